import type { Backend } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { handleOf } from './handles.ts'
import type { Storage } from './types.ts'

/** Opens the backend that stores a project's files. */
export async function openStoredProject(
  storage: Storage,
  id: string,
  onChange: (paths: readonly string[] | 'many') => void = () => {},
): Promise<Backend> {
  if (storage === 'memory') return memory({}, { clock: Date.now })
  const notify = (changed: { readonly paths: readonly string[] | undefined }): void => onChange(changed.paths ?? 'many')
  if (storage === 'opfs') {
    const { opfs } = await import('wardspace/backends/opfs')
    return opfs({ name: id, onChange: notify })
  }
  const { askPermission, directoryHandle } = await import('wardspace/backends/directory-handle')
  const handle = await handleOf(id)
  // If the browser needs a click first, accessing the folder fails with an instruction.
  await askPermission(handle).catch(() => {})
  return directoryHandle(handle, { onChange: notify })
}
