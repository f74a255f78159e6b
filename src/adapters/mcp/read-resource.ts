import type { ReadResourceResult } from '@modelcontextprotocol/sdk/types.js'
import type { CallOptions, Success } from '../../call/state/call.ts'
import type { Failure } from '../../errors.ts'
import { refusal } from './protocol-errors.ts'
import { ownCalls, type ServedRun } from './served-workspace.ts'
import type { ResourceName } from './uris.ts'

type Contents = ReadResourceResult['contents'][number]

/** What a file gives whole, in UTF-16 units: more of it is read in ranges. */
const MOST_TEXT = 256 * 1024

/** Reads what an address names: calls of the run, judged, redacted and recorded like any other. Nothing is cut silently. */
export async function readResource(
  run: ServedRun,
  uri: string,
  name: ResourceName,
  options: CallOptions,
): Promise<Contents> {
  switch (name.type) {
    case 'text':
      return name.range === undefined
        ? wholeText(run, uri, name.path, options)
        : textOf(
            uri,
            name.path,
            must(await ownCalls(run).call('read_file', { path: name.path, ...name.range }, options)),
          )
    case 'diff': {
      const { diff, ...about } = must(await ownCalls(run).call('diff_workspace', {}, options)) as Success & {
        diff: string
      }
      return contents(uri, 'text/x-diff', diff + cutNote(about), about)
    }
    case 'policy': {
      const { text, ...about } = must(await run.consult('policy', options))
      return contents(uri, 'application/json', wholeJson(text, about), about)
    }
    case 'report': {
      const { text: _, markdown, ...about } = must(await run.consult('report', options))
      return contents(uri, 'text/markdown', String(markdown) + cutNote(about), about)
    }
    case 'report.json': {
      const { text, markdown: _, ...about } = must(await run.consult('report', options))
      return contents(uri, 'application/json', wholeJson(text, about), about)
    }
  }
}

/** Lines of a file in one call. */
const PART_LINES = 1000

/** What one call gives of a text. */
type Part = Success & {
  readonly content: string
  readonly endLine: number
  readonly sha256: string
  readonly truncated: boolean
}

/** A file or an artifact from its beginning to its end, of one version. */
async function wholeText(run: ServedRun, uri: string, path: string, options: CallOptions): Promise<Contents> {
  const named = JSON.stringify(path)
  let text = ''
  let startLine = 1
  let version: string | undefined
  for (;;) {
    const part = must(await ownCalls(run).call('read_file', { path, startLine, maxLines: PART_LINES }, options)) as Part
    version ??= part.sha256
    if (part.sha256 !== version) {
      throw refused('WRITE_CONFLICT', `Cannot read ${named} whole: it changed meanwhile`, 'Read it again.')
    }
    text += part.content
    if (!part.truncated) return textOf(uri, path, { ...part, content: text, startLine: 1 })
    // What was cut within a line cannot be gone on with.
    if (text.length > MOST_TEXT || !part.content.endsWith('\n')) {
      const hint = `Read it in ranges, as ${uri}?startLine=1&maxLines=${PART_LINES}`
      throw refused('FILE_TOO_LARGE', `Cannot read ${named} whole: it is too large`, hint)
    }
    startLine = part.endLine + 1
  }
}

function textOf(uri: string, path: string, result: Success): Contents {
  const { content, ...about } = result
  return contents(uri, mimeTypeOf(path), String(content), about)
}

/** Everything else that the call told goes along: version, lines, warnings. */
function contents(uri: string, mimeType: string, text: string, { ok, ...about }: Omit<Success, 'ok'> & { ok: true }) {
  return { uri, mimeType, text, _meta: { 'wardspace/call': about } }
}

/** How a result tells that it was cut. */
interface Cut {
  readonly truncated?: unknown
  readonly artifactUri?: string
}

function cutNote({ truncated, artifactUri }: Cut): string {
  return truncated === true ? `\n[Cut here. The whole is at ${artifactUri}]\n` : ''
}

/** Half of it would be none. */
function wholeJson(text: unknown, { truncated, artifactUri }: Cut): string {
  if (truncated !== true) return String(text)
  throw refused('FILE_TOO_LARGE', 'It is too large to be given whole', `Read it in ranges at ${artifactUri}`)
}

function must(result: Success | Failure): Success {
  if (result.ok) return result
  throw refusal(result)
}

function refused(code: Failure['code'], message: string, hint: string): Error {
  return refusal({ ok: false, code, message, hint })
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

/** By the last part of a name. */
export function mimeTypeOf(path: string): string {
  return mimeTypes[/\.([a-z]+)$/.exec(path)?.[1] ?? ''] ?? 'text/plain'
}
