import { redact } from '../../files/secrets/index.ts'
import { lastBytes } from '../../files/text/last-bytes.ts'
import type { BuiltinContext } from '../builtin-tool.ts'

/** The output of a command as a model may see it. */
export interface BoundedOutput {
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  /** Address of the whole output, if something was left out. */
  readonly uri: string | undefined
}

/** Marks secrets and keeps the end of each stream, which usually matters most. Stores the whole as an artifact. */
export function boundOutput(
  output: { readonly stdout: string; readonly stderr: string },
  { limits, keepArtifact }: Pick<BuiltinContext, 'limits' | 'keepArtifact'>,
): BoundedOutput {
  const stdout = redactEnd(output.stdout, limits.commandKeptBytes)
  const stderr = redactEnd(output.stderr, limits.commandKeptBytes)
  const ends = {
    stdout: lastLines(stdout, limits.commandOutputBytes),
    stderr: lastLines(stderr, limits.commandOutputBytes),
  }
  const truncated = ends.stdout !== stdout || ends.stderr !== stderr
  const whole = stderr === '' ? stdout : `${stdout}\n--- stderr ---\n${stderr}`
  return { ...ends, truncated, uri: truncated ? keepArtifact('output.txt', whole) : undefined }
}

/** Bytes before the kept end that are searched for the beginning of a secret. */
const CONTEXT_BYTES = 64 * 1024

/** Returns the end of a text, within `maxBytes` of UTF-8, with secrets marked. */
function redactEnd(text: string, maxBytes: number): string {
  return lastBytes(redact(lastBytes(text, maxBytes + CONTEXT_BYTES)).text, maxBytes)
}

/** Returns the end of a text within `maxBytes` of UTF-8, from the start of a line if one is near. */
export function lastLines(text: string, maxBytes: number): string {
  const end = lastBytes(text, maxBytes)
  if (end.length === text.length) return text
  const line = end.indexOf('\n')
  return `[…]\n${line === -1 || line > end.length / 2 ? end : end.slice(line + 1)}`
}
