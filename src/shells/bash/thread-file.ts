let file: URL | undefined

/** Sets the file that workers and processes of Node run. For programs that contain the packages of the interpreter. */
export function setThreadFile(url: URL): void {
  file = url
}

/** Returns the file that workers and processes of Node run. */
export function threadFile(): URL {
  return file ?? new URL('./thread.js', import.meta.url)
}
