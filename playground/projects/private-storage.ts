/** The directory of the playground's own data in the browser's private storage, beside the library's workspaces. */
const HOME = 'wardspace-playground'

/** Whether an error of the browser's storage says that something is not there. */
export function isMissing(error: unknown): boolean {
  return (error as Error).name === 'NotFoundError'
}

/** Whether this browser has private storage. */
export function hasPrivateStorage(): boolean {
  return typeof navigator.storage?.getDirectory === 'function'
}

export async function privateDirectory(...path: readonly string[]): Promise<FileSystemDirectoryHandle> {
  let directory = await navigator.storage.getDirectory()
  for (const name of [HOME, ...path]) directory = await directory.getDirectoryHandle(name, { create: true })
  return directory
}

/** Whether a directory is still there. Open handles of its files work longer, and what is written to them is lost. */
export async function isPresent(directory: FileSystemDirectoryHandle): Promise<boolean> {
  try {
    await directory.keys().next()
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Lists the library's workspaces. */
export async function workspaceNames(): Promise<readonly string[]> {
  const names: string[] = []
  const root = await navigator.storage.getDirectory()
  try {
    const home = await root.getDirectoryHandle('wardspace')
    for await (const name of home.keys()) names.push(name)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  return names
}

/** Removes a directory of the playground's own data, or a workspace of the library, with its content. */
export async function removePrivate(kind: 'playground' | 'workspace', name: string): Promise<void> {
  try {
    const root = await navigator.storage.getDirectory()
    const home = await root.getDirectoryHandle(kind === 'playground' ? HOME : 'wardspace')
    await home.removeEntry(name, { recursive: true })
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
