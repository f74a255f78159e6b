import type { CallOptions, Success } from '../../call/state/call.ts'
import type { Failure } from '../../errors.ts'
import { ownValue } from '../../util/own-value.ts'
import { describedMedia, mediaOf } from '../model/media.ts'
import { failureError } from './protocol-errors.ts'
import type { ReadResourceResult } from './sdk.ts'
import { ownCalls, type ServedRun } from './served-workspace.ts'
import type { ResourceName } from './uris.ts'

type Contents = ReadResourceResult['contents'][number]

/** Maximum size of a file that is returned whole, in UTF-16 units. Larger files are read in ranges. */
const MAX_TEXT = 256 * 1024

/** Reads a resource by calls of the run, which are evaluated, redacted and recorded like any other. Never truncates silently. */
export async function readResource(
  run: ServedRun,
  uri: string,
  name: ResourceName,
  options: CallOptions,
): Promise<Contents> {
  const { media: _media, onProgress: _onProgress, ...consultOptions } = options
  switch (name.type) {
    case 'text':
      return name.range === undefined
        ? wholeText(run, uri, name.path, options)
        : textOf(
            uri,
            name.path,
            requireSuccess(await ownCalls(run).call('read_file', { path: name.path, ...name.range }, options)),
            options,
          )
    case 'diff': {
      const { diff, ...metadata } = requireSuccess(
        await ownCalls(run).call('diff_workspace', {}, options),
      ) as Success & {
        diff: string
      }
      return contents(uri, 'text/x-diff', diff + truncationNote(metadata), metadata)
    }
    case 'policy': {
      const { text, ...metadata } = requireSuccess(await run.consult('policy', consultOptions))
      return contents(uri, 'application/json', wholeJson(text, metadata), metadata)
    }
    case 'report': {
      const { text: _, markdown, ...metadata } = requireSuccess(await run.consult('report', consultOptions))
      return contents(uri, 'text/markdown', String(markdown) + truncationNote(metadata), metadata)
    }
    case 'report.json': {
      const { text, markdown: _, ...metadata } = requireSuccess(await run.consult('report', consultOptions))
      return contents(uri, 'application/json', wholeJson(text, metadata), metadata)
    }
  }
}

/** Lines that are read in one call. */
const PART_LINES = 1000

/** A part of a text, from one call. */
type Part = Success & {
  readonly content: string
  readonly endLine: number
  readonly sha256: string
  readonly truncated: boolean
  readonly nextColumn?: number
}

/** Reads a whole file or artifact in parts of the same version. */
async function wholeText(run: ServedRun, uri: string, path: string, options: CallOptions): Promise<Contents> {
  const quoted = JSON.stringify(path)
  let text = ''
  let startLine = 1
  let startColumn = 1
  let version: string | undefined
  for (;;) {
    const part = requireSuccess(
      await ownCalls(run).call('read_file', { path, startLine, startColumn, maxLines: PART_LINES }, options),
    ) as Part
    version ??= part.sha256
    if (part.sha256 !== version) {
      throw refuse('WRITE_CONFLICT', `Cannot read ${quoted} whole: it changed during the read`, 'Read it again.')
    }
    text += part.content
    if (!part.truncated) return textOf(uri, path, { ...part, content: text, startLine: 1 }, options)
    const isShortened = part.nextColumn === undefined && !part.content.endsWith('\n')
    if (text.length > MAX_TEXT || isShortened) {
      const hint = `Read it in ranges, as ${uri}?startLine=1&maxLines=${PART_LINES}`
      throw refuse('FILE_TOO_LARGE', `Cannot read ${quoted} whole: it is too large`, hint)
    }
    startLine = part.nextColumn === undefined ? part.endLine + 1 : part.endLine
    startColumn = part.nextColumn ?? 1
  }
}

function textOf(uri: string, path: string, result: Success, { media: taken }: CallOptions): Contents {
  const { content, media: whole, ...metadata } = result
  const [media] = mediaOf(result, taken)
  if (media !== undefined) {
    const { data: blob, mimeType } = media
    const call = { ...metadata, media: describedMedia(whole) }
    return { uri, mimeType, blob, _meta: { 'wardspace/call': call } }
  }
  return contents(uri, mimeTypeOf(path), String(content), metadata)
}

/** Returns contents with the other fields of the result as metadata: version, lines, warnings. */
function contents(
  uri: string,
  mimeType: string,
  text: string,
  { ok, ...metadata }: Omit<Success, 'ok'> & { ok: true },
) {
  return { uri, mimeType, text, _meta: { 'wardspace/call': metadata } }
}

/** The fields of a truncated result. */
interface Truncation {
  readonly truncated?: unknown
  readonly artifactUri?: string
}

function truncationNote({ truncated, artifactUri }: Truncation): string {
  return truncated === true ? `\n[Truncated. The complete text is at ${artifactUri}]\n` : ''
}

/** Returns JSON text. Truncated JSON is refused, because it is not valid. */
function wholeJson(text: unknown, { truncated, artifactUri }: Truncation): string {
  if (truncated !== true) return String(text)
  throw refuse('FILE_TOO_LARGE', 'The resource is too large to return whole', `Read it in ranges at ${artifactUri}`)
}

function requireSuccess(result: Success | Failure): Success {
  if (result.ok) return result
  throw failureError(result)
}

function refuse(code: Failure['code'], message: string, hint: string): Error {
  return failureError({ ok: false, code, message, hint })
}

const mimeTypes: Readonly<Record<string, string>> = {
  css: 'text/css',
  csv: 'text/csv',
  diff: 'text/x-diff',
  html: 'text/html',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  svg: 'image/svg+xml',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
}

/** Returns the MIME type for the extension of a path. */
export function mimeTypeOf(path: string): string {
  return ownValue(mimeTypes, /\.([a-z]+)$/.exec(path)?.[1] ?? '') ?? 'text/plain'
}
