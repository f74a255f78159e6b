import type { Backend, WorkspaceHistory } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { parseRecording, type Replay, replay } from 'wardspace/replay'
import { bash } from 'wardspace/shells/bash'
import { filesOf } from '../projects/files-of.ts'

/** What was asked of a workspace and what came of it, with the files that it began with. */
export interface Recording {
  /** Lines of JSON. */
  readonly text: string
  readonly start: Backend
  /** What had been done to them before. */
  readonly history: WorkspaceHistory
  readonly steps: number
}

/** A copy of a project's files, to begin a replay with. */
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

/** Repeats a recording on a copy of the files it began with. */
export async function repeat({ text, start, history }: Recording): Promise<Replay> {
  return replay(parseRecording(text), { backend: await copyOf(start), history, shell: bash() })
}
