/** Returns the directory of a path, empty for the root. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

export function baseNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

export function joinPath(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

/** Returns the name of a copy: `a copy.txt`, then `a copy 2.txt`. */
export function nameOfCopy(name: string, count: number): string {
  const dot = name.lastIndexOf('.')
  const at = dot > 0 ? dot : name.length
  return `${name.slice(0, at)} copy${count === 1 ? '' : ` ${count}`}${name.slice(at)}`
}
