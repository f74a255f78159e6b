import { redact } from '../../files/secrets/index.ts'
import type { ToolContext } from '../define-tool.ts'

/** Output as a model may see it. */
export interface BoundedOutput {
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  /** Where all of it can be read, if something was left out. */
  readonly uri: string | undefined
}

/** Marks secrets and keeps the end of each stream, for what matters comes last; the rest can be read as an artifact. */
export function boundOutput(
  output: { readonly stdout: string; readonly stderr: string },
  { limits, keepArtifact }: Pick<ToolContext, 'limits' | 'keepArtifact'>,
): BoundedOutput {
  const stdout = redact(lastBytes(output.stdout, limits.commandKeptBytes)).text
  const stderr = redact(lastBytes(output.stderr, limits.commandKeptBytes)).text
  const shown = {
    stdout: lastLines(stdout, limits.commandOutputBytes),
    stderr: lastLines(stderr, limits.commandOutputBytes),
  }
  const truncated = shown.stdout !== stdout || shown.stderr !== stderr
  const whole = stderr === '' ? stdout : `${stdout}\n--- stderr ---\n${stderr}`
  return { ...shown, truncated, uri: truncated ? keepArtifact('output.txt', whole) : undefined }
}

/** The end of a text, at most so many bytes in UTF-8, from the start of a line where one is near. */
function lastLines(text: string, maxBytes: number): string {
  const end = lastBytes(text, maxBytes)
  if (end.length === text.length) return text
  const line = end.indexOf('\n')
  return `[…]\n${line === -1 || line > end.length / 2 ? end : end.slice(line + 1)}`
}

function lastBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  let bytes = 0
  let start = text.length
  while (start > 0) {
    const unit = text.charCodeAt(start - 1)
    // Half of a pair counts two of its four bytes.
    const size = unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
    if (bytes + size > maxBytes) break
    bytes += size
    start -= 1
  }
  const first = text.charCodeAt(start)
  return text.slice(first >= 0xdc00 && first <= 0xdfff ? start + 1 : start)
}
