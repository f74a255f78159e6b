import type { Backend } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { handleOf } from './handles.ts'
import type { Storage } from './types.ts'

/** Where a project's files are. */
export async function openStoredProject(
  storage: Storage,
  id: string,
  onChange: (paths: readonly string[] | 'many') => void = () => {},
): Promise<Backend> {
  if (storage === 'memory') return memory()
  const notify = (changed: { readonly paths: readonly string[] | undefined }): void => onChange(changed.paths ?? 'many')
  if (storage === 'opfs') {
    const { opfs } = await import('wardspace/backends/opfs')
    return opfs({ name: id, onChange: notify })
  }
  const { askPermission, directoryHandle } = await import('wardspace/backends/directory-handle')
  const handle = await handleOf(id)
  // Where the browser wants a click first, the folder itself says what to do.
  await askPermission(handle).catch(() => {})
  return directoryHandle(handle, { onChange: notify })
}
