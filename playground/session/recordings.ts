import type { Backend, WorkspaceHistory } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { filesOf } from '../projects/files-of.ts'

/** The recorded calls and results of a workspace, with the files at the start. */
export interface Recording {
  /** Lines of JSON. */
  readonly text: string
  readonly start: Backend
  /** The history at the start of the recording. */
  readonly history: WorkspaceHistory
  readonly steps: number
}

/** Copies a project's files as the start of a replay. */
export async function copyOf(backend: Backend): Promise<Backend> {
  const forked = backend.fork?.()
  if (forked !== undefined) return forked
  const files: Record<string, { bytes: Uint8Array; mode?: number } | { link: string } | { directory: true }> = {}
  for await (const { path, bytes, mode, target, isDirectory } of filesOf(backend)) {
    if (isDirectory === true) files[path] = { directory: true }
    else if (target !== undefined) files[path] = { link: target }
    else files[path] = { bytes, ...(mode === undefined ? {} : { mode }) }
  }
  return memory(files)
}
