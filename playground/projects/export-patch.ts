import type { Workspace } from 'wardspace'
import { sha256Of } from './sha256.ts'

/** A patch that `git apply` accepts, and warnings about what it leaves out. */
export interface Patch {
  readonly text: string
  readonly filesChanged: number
  readonly warnings: readonly string[]
}

/**
 * Returns the changes of a workspace since its last commit or, without a repository, since it was opened. The patch never
 * contains secret or ignored files; the warnings name them.
 */
export async function patchOf(call: Workspace['call']): Promise<Patch> {
  const result = await call('diff_workspace', { maxBytes: Number.MAX_SAFE_INTEGER })
  if (!result.ok) throw new Error(result.message)
  const { filesChanged, warnings } = result
  if (!result.truncated) return { text: result.diff, filesChanged, warnings }
  if (result.artifactUri === undefined) throw new Error('Cannot make the patch: it is too long')
  const text = await readArtifact(call, result.artifactUri)
  if ((await sha256Of(new TextEncoder().encode(text))) !== result.diffSha256)
    throw new Error('Cannot make the patch: it is incomplete')
  return { text, filesChanged, warnings: [] }
}

/** Reads the complete text of an artifact. */
async function readArtifact(call: Workspace['call'], uri: string): Promise<string> {
  let text = ''
  for (let startLine = 1; ; ) {
    const part = await call('read_file', { path: uri, startLine, maxLines: 1_000 })
    if (!part.ok) throw new Error(part.message)
    text += part.content
    if (part.endLine >= part.totalLines) return text
    startLine = part.endLine + 1
  }
}
