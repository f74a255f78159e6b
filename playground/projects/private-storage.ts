/** Where the playground keeps what is its own in the browser's private storage, beside the workspaces of the library. */
const HOME = 'wardspace-playground'

/** Whether this browser has such a storage. */
export function hasPrivateStorage(): boolean {
  return typeof navigator.storage?.getDirectory === 'function'
}

export async function privateDirectory(...path: readonly string[]): Promise<FileSystemDirectoryHandle> {
  let directory = await navigator.storage.getDirectory()
  for (const name of [HOME, ...path]) directory = await directory.getDirectoryHandle(name, { create: true })
  return directory
}

/** The names of what the playground keeps, or of the library's workspaces. */
export async function namesOfPrivate(of: 'playground' | 'workspace'): Promise<readonly string[]> {
  const names: string[] = []
  const root = await navigator.storage.getDirectory()
  const home = await root.getDirectoryHandle(of === 'playground' ? HOME : 'wardspace').catch(() => undefined)
  if (home !== undefined) for await (const name of home.keys()) names.push(name)
  return names
}

/** Takes away a directory and all below it, of the playground's own or of the library's workspace of that name. */
export async function removePrivate(of: 'playground' | 'workspace', name: string): Promise<void> {
  try {
    const root = await navigator.storage.getDirectory()
    const home = await root.getDirectoryHandle(of === 'playground' ? HOME : 'wardspace')
    await home.removeEntry(name, { recursive: true })
  } catch (error) {
    if ((error as Error).name !== 'NotFoundError') throw error
  }
}
