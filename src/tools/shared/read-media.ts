import { type ErrorDetails, ToolError } from '../../errors.ts'
import { classifyContent } from '../../files/classify/index.ts'
import { announcedType, measureMedia } from '../../files/media/measure.ts'
import { type MediaType, takesMedia } from '../../files/media/types.ts'
import { redact } from '../../files/secrets/index.ts'
import { looksBinary } from '../../files/text/encoding.ts'
import type { Limits } from '../../limits.ts'
import { display, type Path, quote } from '../../paths/logical-path.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import type { Stat } from '../../storage/backend.ts'
import { counted } from '../../util/counted.ts'
import { byteText, latin1 } from '../../util/native-bytes.ts'
import type { BuiltinContext, BuiltinDraft } from '../builtin-tool.ts'
import type { ReadInput, ReadOutput } from './read-contract.ts'

type Media = NonNullable<ReadOutput['media']>

/** The first bytes of a file, which announce its type. */
const HEAD_BYTES = 64

/**
 * Reads an image or a PDF document, if the caller takes its type. Only the content decides: a file that starts like
 * a type and does not have its structure is refused, or read as text.
 *
 * @returns the draft; the refusal of a file that may still be a text; `undefined` for any other file
 * @throws ToolError `FILE_TOO_LARGE`, `LIMIT_EXCEEDED` for too many pixels, `UNSUPPORTED_BINARY` for a broken file,
 *   `POLICY_DENIED_SECRET` for one whose bytes contain a secret
 */
export async function readMedia(
  input: ReadInput,
  target: GuardedAccess,
  stat: Stat,
  context: BuiltinContext,
): Promise<BuiltinDraft<ReadOutput> | ToolError | undefined> {
  const { files, limits } = context
  const { path } = target
  const { bytes: head } = await files.readRange(path, { start: 0, end: Math.min(stat.size, HEAD_BYTES) })
  const type = announcedType(head)
  if (type === undefined || !takesMedia(context.media, type)) return undefined
  try {
    const limit = type.startsWith('image/') ? 'imageBytes' : 'documentBytes'
    requireSize(path, type, stat.size, limit, limits)
    const { bytes } = await files.read(path, limits[limit])
    return draftOf(input, target, context, bytes, mediaOf(path, type, bytes, limits))
  } catch (error) {
    if (error instanceof ToolError && mayBeText(head)) return error
    throw error
  }
}

/** Whether bytes that begin like media may be a text: `%PDF-` and `GIF89a` are letters. */
function mayBeText(head: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    return !looksBinary(head)
  } catch {
    return false
  }
}

function requireSize(path: Path, type: MediaType, size: number, limit: keyof Limits, limits: Limits): void {
  if (size <= limits[limit]) return
  throw refuse('FILE_TOO_LARGE', path, type, `${size} bytes are over the limit ${limit} of ${limits[limit]}`, {
    sizeBytes: size,
    limit: limits[limit],
    hint: 'Work without its content, or on a smaller copy of it.',
  })
}

/** @throws ToolError for what must not be shown */
function mediaOf(path: Path, type: MediaType, bytes: Uint8Array, limits: Limits): Media {
  const measured = measureMedia(type, bytes)
  if (typeof measured === 'string') throw refuse('UNSUPPORTED_BINARY', path, type, measured)
  const { end, width, height } = measured
  const isImage = width !== undefined && height !== undefined
  if (isImage) {
    const side = Math.max(width, height)
    requirePixels(path, type, side, `${side} pixels on one side`, 'imageSide', limits)
    requirePixels(path, type, width * height, `${width} x ${height} pixels`, 'imagePixels', limits)
  }
  const [secret] = secretsIn(bytes)
  if (secret !== undefined) {
    throw refuse('POLICY_DENIED_SECRET', path, type, `its bytes contain a secret (${secret.kind})`, {
      hint: 'Bytes cannot be shown with marks; do not retry, work without its content.',
    })
  }
  return {
    type: isImage ? 'image' : 'document',
    mimeType: type,
    sizeBytes: bytes.length,
    ...(isImage ? { width, height } : {}),
    data: btoa(byteText(bytes.subarray(0, end))),
  }
}

function requirePixels(
  path: Path,
  type: MediaType,
  value: number,
  text: string,
  limit: 'imageSide' | 'imagePixels',
  limits: Limits,
): void {
  if (value <= limits[limit]) return
  throw refuse('LIMIT_EXCEEDED', path, type, `${text} are over the limit ${limit} of ${limits[limit]}`, {
    limit,
    value: limits[limit],
    hint: 'Work without its content, or on a smaller copy of it.',
  })
}

/** The secrets in bytes, also those in UTF-16. What is compressed or drawn is not found. */
function secretsIn(bytes: Uint8Array) {
  const text = latin1(bytes)
  const { marks } = redact(text)
  return marks.length > 0 ? marks : redact(text.replaceAll('\0', '')).marks
}

function refuse(
  code: 'FILE_TOO_LARGE' | 'LIMIT_EXCEEDED' | 'UNSUPPORTED_BINARY' | 'POLICY_DENIED_SECRET',
  path: Path,
  type: MediaType,
  why: string,
  details: ErrorDetails = {},
): ToolError {
  return new ToolError(code, `Cannot show ${quote(path)} as ${type}: ${why}`, { path, ...details })
}

/** Media are binary, also those without a NUL. */
const BINARY = Uint8Array.of(0)

const NO_LINES = { startLine: 1, endLine: 0, totalLines: 0, encoding: 'binary', eol: 'none', bom: false }

function draftOf(
  input: ReadInput,
  target: GuardedAccess,
  { files, warnings, previousReads }: BuiltinContext,
  bytes: Uint8Array,
  media: Media,
): BuiltinDraft<ReadOutput> {
  const sha256 = files.versionOf(bytes)
  const classification = classifyContent(target.classification, BINARY)
  const path = display(target.asked)
  const seen = { path: target.path, sha256, startLine: 0, endLine: 0, lineNumbers: false, form: 'media' } as const
  const earlierCall = input.ifChanged ? previousReads.findCall(seen) : undefined
  const result = { path, content: '', ...NO_LINES, sha256, truncated: false, kind: classification.kind }
  // Rules about binary files hold for what is one, whatever its name is.
  const accesses = classification === target.classification ? [] : [{ ...target, classification }]
  if (earlierCall !== undefined) {
    const number = earlierCall.slice(earlierCall.lastIndexOf('-') + 1)
    const summary = `Unchanged since call ${number}: ${path}`
    return { summary, accesses, result: () => ({ ...result, unchangedSince: earlierCall }) }
  }
  if (input.startLine > 1 || input.startColumn > 1 || input.lineNumbers)
    warnings.push('It is shown whole: it has no lines')
  const shownBytes = (media.data.length / 4) * 3 - (/(?<!=)=*$/.exec(media.data)?.[0].length ?? 0)
  if (shownBytes < bytes.length) warnings.push(`Left out: ${counted(bytes.length - shownBytes, 'byte')} after its end`)
  return {
    summary: `Read ${path}: ${describe(media)}`,
    accesses,
    hasMedia: true,
    // The version is recorded. A picture is not the text that a change would replace, so nothing counts as shown.
    shown: () => [{ path: target.path, sha256, lines: { start: 1, end: 0, total: 1 } }],
    onResult({ callId, media: answer }) {
      if ((answer as Partial<Media> | undefined)?.data === media.data) previousReads.noteLines(seen, callId)
    },
    result: () => ({ ...result, media }),
  }
}

function describe({ mimeType, width, height, sizeBytes }: Media): string {
  const pixels = width === undefined ? '' : `${width} x ${height} pixels, `
  return `${mimeType}, ${pixels}${counted(sizeBytes, 'byte')}`
}
