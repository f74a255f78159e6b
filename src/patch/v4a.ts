import type { Chunk, FileChange } from './file-change.ts'
import { invalidPatch } from './invalid-patch.ts'

/** Whether a text is a V4A patch: its first header is `*** Begin Patch`. */
export function isV4a(patch: string): boolean {
  return /^(?:\*\*\* Begin Patch|diff --git |--- )/m.exec(patch)?.[0].startsWith('***') === true
}

/**
 * Parses a V4A patch, from `*** Begin Patch` to `*** End Patch`: files that are added, deleted, updated and moved, in
 * chunks that are located by their lines alone. Pure and linear.
 *
 * @throws ToolError `INVALID_PATCH` with `line`
 */
export function parseV4a(patch: string): FileChange[] {
  const rows = patch.split('\n')
  const begin = rows.findIndex((row) => row.startsWith('*** Begin Patch'))
  const reader: Reader = { rows, at: begin + 1, endsLine: (rows[begin] as string).startsWith(BEGIN_ENDING_LINES) }
  const changes: FileChange[] = []
  for (;;) {
    if (reader.at >= rows.length) throw invalidPatch(rows.length, 'the patch does not end with *** End Patch')
    const header = currentRow(reader)
    if (header.startsWith('*** End Patch')) return changes
    if (header.startsWith(ADD)) changes.push(parseAddedFile(reader))
    else if (header.startsWith(DELETE)) changes.push(parseDeletedFile(reader))
    else if (header.startsWith(UPDATE)) changes.push(parseUpdatedFile(reader))
    else if (header.trim() === '') reader.at += 1
    else {
      throw invalidPatch(
        reader.at + 1,
        '*** Add File:, *** Update File:, *** Delete File: or *** End Patch is expected',
      )
    }
  }
}

/**
 * The first row of a patch whose updated files all end with a newline, as in Codex. Written by the `codex` dialect; with the
 * plain `*** Begin Patch`, a file without a final newline stays without one.
 */
export const BEGIN_ENDING_LINES = '*** Begin Patch (end files with a newline)'

const ADD = '*** Add File: '
const DELETE = '*** Delete File: '
const UPDATE = '*** Update File: '
const MOVE = '*** Move to: '
const END_OF_FILE = '*** End of File'

/** The rows of a patch and the position of the current one, from 0. */
interface Reader {
  readonly rows: readonly string[]
  at: number
  /** Whether updated files get a final newline. */
  readonly endsLine: boolean
}

function currentRow({ rows, at }: Reader): string {
  const text = rows[at] as string
  return text.endsWith('\r') ? text.slice(0, -1) : text
}

/** Whether the current row belongs to the section, because no header starts there. */
function isInSection({ rows, at }: Reader): boolean {
  return at < rows.length && !(rows[at] as string).startsWith('*** ')
}

/** Reads the file name of a header row, and moves to the next row. */
function readName(reader: Reader, keyword: string): string {
  const name = currentRow(reader).slice(keyword.length).trim()
  if (name === '') throw invalidPatch(reader.at + 1, 'the name of the file is missing')
  reader.at += 1
  return name
}

function parseAddedFile(reader: Reader): FileChange {
  const line = reader.at + 1
  const newPath = readName(reader, ADD)
  const added: string[] = []
  let isOver = false
  for (; isInSection(reader); reader.at++) {
    const text = currentRow(reader)
    // Empty rows before the next header are not part of the file.
    isOver ||= text === ''
    if (isOver && text === '') continue
    if (isOver || !text.startsWith('+')) {
      throw invalidPatch(reader.at + 1, 'every line of an added file must start with +')
    }
    added.push(`${text.slice(1)}\n`)
  }
  return {
    line,
    kind: 'create',
    oldPath: null,
    newPath,
    mayCreate: false,
    body: { type: 'text', text: added.join('') },
    insertions: added.length,
    deletions: 0,
  }
}

function parseDeletedFile(reader: Reader): FileChange {
  const line = reader.at + 1
  const oldPath = readName(reader, DELETE)
  for (; isInSection(reader); reader.at++) {
    if (currentRow(reader).trim() !== '') {
      throw invalidPatch(reader.at + 1, 'nothing may follow the name of a deleted file')
    }
  }
  return {
    line,
    kind: 'delete',
    oldPath,
    newPath: null,
    mayCreate: false,
    body: { type: 'hunks', hunks: [] },
    insertions: 0,
    deletions: 0,
  }
}

function parseUpdatedFile(reader: Reader): FileChange {
  const line = reader.at + 1
  const oldPath = readName(reader, UPDATE)
  const isMoved = reader.at < reader.rows.length && currentRow(reader).startsWith(MOVE)
  const newPath = isMoved ? readName(reader, MOVE) : oldPath
  const chunks: Chunk[] = []
  let insertions = 0
  let deletions = 0
  while (isInSection(reader) || (reader.at < reader.rows.length && currentRow(reader).startsWith(END_OF_FILE))) {
    const { chunk, context } = parseChunk(reader)
    if (chunk === undefined) continue
    insertions += chunk.newLines.length - context
    deletions += chunk.oldLines.length - context
    chunks.push(chunk)
  }
  const isRename = newPath !== oldPath
  if (chunks.length === 0 && !isRename) throw invalidPatch(line, 'the update changes nothing')
  return {
    line,
    kind: isRename ? 'rename' : 'modify',
    oldPath,
    newPath,
    mayCreate: false,
    body: { type: 'chunks', chunks, endsLine: reader.endsLine },
    insertions,
    deletions,
  }
}

/** Parses one chunk. `chunk` is undefined for empty rows between chunks; `context` counts its unchanged lines. */
function parseChunk(reader: Reader): { chunk: Chunk | undefined; context: number } {
  const { rows } = reader
  const line = reader.at + 1
  const anchors: string[] = []
  for (; reader.at < rows.length && currentRow(reader).startsWith('@@'); reader.at++) {
    const anchor = currentRow(reader).slice(2).trim()
    if (anchor !== '') anchors.push(anchor)
  }
  const oldLines: string[] = []
  const newLines: string[] = []
  const oldIndexes: number[] = []
  let context = 0
  let blank = 0
  let atEnd = false
  for (; reader.at < rows.length; reader.at++) {
    const text = currentRow(reader)
    const content = text.slice(1)
    if (text.startsWith(END_OF_FILE)) {
      atEnd = true
      reader.at += 1
      break
    }
    if (text.startsWith('*** ') || text.startsWith('@@')) break
    if (text.startsWith('-')) oldLines.push(content)
    else if (text.startsWith('+')) {
      newLines.push(content)
      oldIndexes.push(-1)
    } else if (text.startsWith(' ') || text === '') {
      oldIndexes.push(oldLines.length)
      oldLines.push(content)
      newLines.push(content)
      context += 1
    } else throw invalidPatch(reader.at + 1, 'a line of a chunk must start with a space, + or -')
    blank = text === '' ? blank + 1 : 0
  }
  // Empty rows before the next header are not part of the file.
  oldLines.length -= blank
  newLines.length -= blank
  oldIndexes.length -= blank
  context -= blank
  const isUnchanged = oldLines.length === context && newLines.length === context
  const isEmpty = context === 0 && anchors.length === 0 && !atEnd
  if (isUnchanged && !isEmpty) throw invalidPatch(line, 'the chunk changes nothing')
  return { chunk: isUnchanged ? undefined : { line, anchors, oldLines, newLines, kept: oldIndexes, atEnd }, context }
}
