import type { Success } from '../call/state/call.ts'
import { type Failure, ToolError } from '../errors.ts'

/** Guarded files for the embedding program: the tools as plain functions that throw a {@link ToolError} when refused. */
export interface WorkspaceFiles {
  /** The text of a file, whole up to 64 KiB, with its version. */
  read(path: string): Promise<{ content: string; sha256: string }>
  /** Replaces the version given, or creates the file where it is `null`; gives the new version. */
  write(path: string, content: string, expectedSha256: string | null): Promise<{ sha256: string }>
  /** Deletes that version of a file. */
  remove(path: string, expectedSha256: string): Promise<void>
  /** The names directly below a directory. */
  list(path?: string): Promise<readonly { path: string; type: string }[]>
}

type Call = (name: string, input: unknown) => Promise<Success | Failure>

/** Files over a workspace's own calls: nothing is bypassed. */
export function createFiles(call: Call): WorkspaceFiles {
  async function must<T>(name: string, input: unknown): Promise<T> {
    const result = await call(name, input)
    if (result.ok) return result as unknown as T
    const { ok, code, message, ...details } = result
    throw new ToolError(code, message, details)
  }
  return {
    async read(path) {
      const { content, sha256, truncated } = await must<{ content: string; sha256: string; truncated: boolean }>(
        'read_file',
        { path, maxLines: 1000 },
      )
      if (truncated) throw new ToolError('FILE_TOO_LARGE', 'The file is too large to be read at once', { path })
      return { content, sha256 }
    },
    async write(path, content, expectedSha256) {
      const { newSha256 } = await must<{ newSha256: string }>('write_file', { path, content, expectedSha256 })
      return { sha256: newSha256 }
    },
    async remove(path, expectedSha256) {
      await must('delete_file', { path, expectedSha256 })
    },
    async list(path = '.') {
      return (await must<{ entries: readonly { path: string; type: string }[] }>('list_directory', { path })).entries
    },
  }
}
