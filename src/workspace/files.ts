import type { Success } from '../call/state/call.ts'
import { type Failure, ToolError } from '../errors.ts'

/** The file tools as functions for the embedding program. Each throws a {@link ToolError} if the call is refused. */
export interface WorkspaceFiles {
  /** Returns the text of a file of up to 1000 lines and 64 KiB, with its version. @throws ToolError `FILE_TOO_LARGE` */
  read(path: string): Promise<{ content: string; sha256: string }>
  /** Replaces a file that has the expected version, or creates it if that is `null`. Returns the new version. */
  write(path: string, content: string, expectedSha256: string | null): Promise<{ sha256: string }>
  /** Deletes a file that has the expected version. */
  remove(path: string, expectedSha256: string): Promise<void>
  /** Returns the entries of a directory. Default: the root. */
  list(path?: string): Promise<readonly { path: string; type: string }[]>
}

type Call = (name: string, input: unknown) => Promise<Success | Failure>

/** Creates the files of a run over its calls, so that guard, policy and audit apply. */
export function createFiles(call: Call): WorkspaceFiles {
  async function callOrThrow<T>(name: string, input: unknown): Promise<T> {
    const result = await call(name, input)
    if (result.ok) return result as unknown as T
    const { ok, code, message, ...details } = result
    throw new ToolError(code, message, details)
  }
  return {
    async read(path) {
      const { content, sha256, truncated } = await callOrThrow<{ content: string; sha256: string; truncated: boolean }>(
        'read_file',
        { path, maxLines: 1000 },
      )
      if (truncated) throw new ToolError('FILE_TOO_LARGE', 'The file is too large to read at once', { path })
      return { content, sha256 }
    },
    async write(path, content, expectedSha256) {
      const { newSha256 } = await callOrThrow<{ newSha256: string }>('write_file', { path, content, expectedSha256 })
      return { sha256: newSha256 }
    },
    async remove(path, expectedSha256) {
      if (typeof expectedSha256 !== 'string') {
        throw new TypeError(
          'Argument "expectedSha256" of files.remove() must be a string: the sha256 that read() returned',
        )
      }
      await callOrThrow('delete_file', { path, expectedSha256 })
    },
    async list(path = '.') {
      return (await callOrThrow<{ entries: readonly { path: string; type: string }[] }>('list_directory', { path }))
        .entries
    },
  }
}
