import { ToolError } from '../../errors.ts'
import { announcedType, measureMedia } from '../../files/media/measure.ts'
import { MARK_PATTERN, redact } from '../../files/secrets/index.ts'
import type { TextDocument } from '../../files/text/document.ts'
import { quote } from '../../paths/logical-path.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import { counted } from '../../util/counted.ts'
import { fromByteText } from '../../util/native-bytes.ts'
import type { BuiltinContext } from '../builtin-tool.ts'
import { boundContent } from './bound-content.ts'
import { type LineWindow, type WindowRequest, windowOf } from './line-window.ts'

/** Lines of the cells of a notebook, and the file that they are in. */
export interface CellLines extends LineWindow {
  readonly document: TextDocument
}

/**
 * Reads lines of the cells of a Jupyter notebook (nbformat 4): a header for each cell and each output, their texts, and what is
 * there beside texts by name and size. What is hidden in the JSON is hidden in the cells.
 *
 * @throws ToolError `INVALID_INPUT` for a file that is no notebook, and the errors of a text file
 */
export async function readCells(
  { files, limits }: Pick<BuiltinContext, 'files' | 'limits'>,
  { path, asked }: GuardedAccess,
  request: WindowRequest,
): Promise<CellLines> {
  const document = await files.document(path, limits.textFileBytes)
  const cells = cellsOf(document.original)
  if (typeof cells === 'string') throw notNotebook(`${quote(path)} is no notebook: ${cells}`, path)
  const parts = hideIn(cells.flatMap(partsOfCell), document, path)
  const fence = fenceFor(parts)
  const text = parts.map((part) => textOf(part, fence, limits.cellOutputBytes)).join('')
  const marks = [...text.matchAll(MARK_PATTERN)].map(({ index, 0: mark }) => ({
    start: index,
    end: index + mark.length,
  }))
  return { ...windowOf(text, request, asked, marks), document }
}

/** Returns the error for cells of what has none. */
export function notNotebook(message: string, path: string): ToolError {
  return new ToolError('INVALID_INPUT', message, { path, field: 'cells', hint: 'Read it without cells.' })
}

type Json = Readonly<Record<string, unknown>>

/** Returns the cells of a notebook, or the reason why the text is not a notebook. */
function cellsOf(text: string): readonly unknown[] | string {
  let notebook: Partial<Json>
  try {
    notebook = Object(JSON.parse(text))
  } catch {
    return 'it is not JSON'
  }
  if (notebook.nbformat !== 4) return 'its nbformat is not 4'
  return Array.isArray(notebook.cells) ? notebook.cells : 'it has no cells'
}

/** A cell or an output: what stands in its header, and its text. */
interface Part {
  readonly header: string
  readonly text: string
  readonly isOutput: boolean
}

function partsOfCell(cell: unknown, index: number): readonly Part[] {
  const { cell_type, source, execution_count, id, outputs } = Object(cell) as Partial<Json>
  const count = Number.isSafeInteger(execution_count) ? `, [${execution_count}]` : ''
  const name = isShown(id, WORD) ? `, id ${id}` : ''
  const header = `cell ${index + 1}, ${wordOf(cell_type)}${count}${name}`
  const shown = Array.isArray(outputs) ? outputs.map(outputOf) : []
  return [{ header, text: joined(source), isOutput: false }, ...shown]
}

function outputOf(output: unknown): Part {
  const { output_type, name, text, data, ename, evalue, traceback } = Object(output) as Partial<Json>
  const part = (header: string, content: string) => ({
    header: `output, ${header}`,
    text: plain(content),
    isOutput: true,
  })
  if (output_type === 'stream') return part(wordOf(name), joined(text))
  if (output_type === 'error') {
    const trace = Array.isArray(traceback) ? traceback.map(joined).join('\n') : ''
    return part('error', trace === '' ? `${joined(ename)}: ${joined(evalue)}` : trace)
  }
  const bundle = Object(data) as Json
  const shown = TEXTS.find((type) => Object.hasOwn(bundle, type))
  const others = Object.keys(bundle).filter((type) => type !== shown && isShown(type, TYPE))
  const named = others.map((type) => describe(type, bundle[type]))
  return part([wordOf(output_type), ...named].join('; '), shown === undefined ? '' : joined(bundle[shown]))
}

/** The types of output that are shown as text, the plainest first. */
const TEXTS = ['text/plain', 'text/markdown', 'text/latex'] as const

const WORD = /^[\w-]{1,64}$/
const TYPE = /^[\w.+-]{1,80}\/[\w.+-]{1,80}$/

function wordOf(value: unknown): string {
  return isShown(value, WORD) ? String(value) : 'unknown'
}

/** Whether a header can have a name. */
function isShown(value: unknown, form: RegExp): boolean {
  return typeof value === 'string' && form.test(value) && redact(value).text === value
}

/** Returns a text that a notebook has in one part or as a list of its lines. */
function joined(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.filter((part) => typeof part === 'string').join('') : ''
}

/** Removes the colours of a terminal. */
function plain(text: string): string {
  return text.replace(/\x1b\[[0-9;]*[A-Za-z]/g, '')
}

/** Names an output that is not shown: `image/png, 640 x 480 pixels, 1234 bytes`. */
function describe(type: string, value: unknown): string {
  const text = typeof value === 'object' && !Array.isArray(value) ? JSON.stringify(value) : joined(value)
  const bytes = type.startsWith('image/') && type !== 'image/svg+xml' ? decoded(text) : undefined
  const kind = bytes && announcedType(bytes)
  const measured = bytes && kind ? measureMedia(kind, bytes) : ''
  const pixels = typeof measured === 'string' ? '' : `${measured.width} x ${measured.height} pixels, `
  return `${type}, ${pixels}${counted(bytes?.length ?? text.length, 'byte')}`
}

function decoded(base64: string): Uint8Array | undefined {
  try {
    return fromByteText(atob(base64))
  } catch {
    return undefined
  }
}

/** Different secrets of one notebook that are looked for in its cells. */
const MAX_SECRETS = 100

/**
 * Hides secrets in texts: what is hidden in the JSON, with the mark that it has there, and what shows only when the lines of a cell
 * are joined. Before anything is cut, because half a secret is not recognized.
 *
 * @throws ToolError `LIMIT_EXCEEDED` for too many secrets
 */
function hideIn(parts: readonly Part[], { original, redaction }: TextDocument, path: string): readonly Part[] {
  const known = new Map<string, string>()
  for (const { mark, originalStart, originalEnd } of redaction.marks) {
    const secret = unescaped(original.slice(originalStart, originalEnd))
    if (secret.length >= SHORTEST && !known.has(secret)) known.set(secret, mark)
  }
  if (known.size > MAX_SECRETS) {
    const hint = 'Read it without cells.'
    throw new ToolError('LIMIT_EXCEEDED', `${quote(path)} has more than ${MAX_SECRETS} secrets`, { path, hint })
  }
  const visible = parts.map(({ text, ...part }) => {
    let hidden = text
    for (const [secret, mark] of known) hidden = hidden.replaceAll(secret, () => mark)
    return { ...part, text: hidden }
  })
  // All at once, because a key may go on in the next cell. An empty line keeps what does not belong together apart.
  const { text, marks } = redact(visible.map((part) => part.text).join(SEPARATOR))
  let next = 0
  let start = 0
  let shift = 0
  let offset = 0
  return visible.map((part) => {
    offset += part.text.length
    for (let mark = marks[next]; mark !== undefined && mark.originalEnd <= offset; mark = marks[next]) {
      shift += mark.end - mark.start - (mark.originalEnd - mark.originalStart)
      next += 1
    }
    const shown = text.slice(start, offset + shift)
    offset += SEPARATOR.length
    start = offset + shift
    return { ...part, text: shown }
  })
}

const SEPARATOR = '\n\n'
const SHORTEST = 6

/** Returns a secret as it is in the text of a cell: without the escapes of JSON, and without quotes around a line. */
function unescaped(secret: string): string {
  const body = secret.replace(/^"/, '').replace(/"?,?$/, '')
  try {
    return String(JSON.parse(`"${body}"`)).trim()
  } catch {
    return secret
  }
}

/** Returns equals signs with which no line of a text begins, so that no text can imitate a header. */
function fenceFor(parts: readonly Part[]): string {
  let longest = 2
  for (const { text } of parts)
    for (const [, signs = ''] of text.matchAll(/(?:^|[\n\r\v\f\x85\u2028\u2029])(={3,})/g))
      longest = Math.max(longest, signs.length)
  return '='.repeat(longest + 1)
}

function textOf({ header, text, isOutput }: Part, fence: string, maxBytes: number): string {
  const shown = isOutput ? boundContent(text, maxBytes) : text
  const ended = shown === '' || shown.endsWith('\n') ? shown : `${shown}\n`
  const rest = text.length - shown.length
  return `${fence} ${header}${rest === 0 ? '' : `; ${rest} of ${text.length} characters are left out`}\n${ended}`
}
