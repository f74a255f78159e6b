import { ToolError } from '../errors.ts'
import { parseBinary } from './binary-text.ts'
import type { BinaryBody, FileChange, Hunk, Mode } from './file-change.ts'
import { commonName, headerName, isDevNull, isEpoch, timedName } from './header-name.ts'
import { invalidPatch } from './invalid-patch.ts'

/**
 * Parses unified diffs of git and GNU diff. Text around them is ignored, but a hunk without a file is an error. Pure and
 * linear. Stricter than git, which continues after some wrong counts and names.
 *
 * @throws ToolError `INVALID_PATCH` with `line`; `POLICY_DENIED` for links and submodules; `UNSUPPORTED_BINARY` for a
 *   binary file whose content is not in the patch
 */
export function parseUnified(patch: string): FileChange[] {
  const lines = createLineReader(patch)
  const changes: FileChange[] = []
  while (lines.at < lines.text.length) {
    if (lines.startsWith('diff --git ')) {
      const change = parseGitSection(lines)
      if (change !== undefined) changes.push(change)
    } else if (lines.startsWith('--- ') && startsHeader(lines)) changes.push(parsePlainSection(lines))
    else if (lines.startsWith('@@ -') && hunkHeader(lines) !== undefined) {
      throw invalidPatch(lines.number, 'a hunk without a file header before it')
    } else lines.next()
  }
  return changes
}

/** Reads a text line by line. */
interface LineReader {
  readonly text: string
  at: number
  /** Number of the line at `at`, from 1. */
  number: number
  startsWith(start: string): boolean
  /** Returns the offset after the line that starts at an offset. */
  endOf(start: number): number
  /** Returns the current line from the unit at `skip` on, without its line end. */
  rest(skip: number): string
  next(): void
}

function createLineReader(patch: string): LineReader {
  // A pasted patch may lack its last line end.
  const text = patch.endsWith('\n') ? patch : `${patch}\n`
  const lines: LineReader = {
    text,
    at: 0,
    number: 1,
    startsWith: (start) => text.startsWith(start, lines.at),
    endOf(start) {
      const end = text.indexOf('\n', start)
      return end === -1 ? text.length : end + 1
    },
    rest: (skip) => text.slice(lines.at + skip, lines.endOf(lines.at) - 1),
    next() {
      lines.at = lines.endOf(lines.at)
      lines.number += 1
    },
  }
  return lines
}

/** Whether the next three lines are `---`, `+++` and the start of a hunk. */
function startsHeader(lines: LineReader): boolean {
  const second = lines.endOf(lines.at)
  return lines.text.startsWith('+++ ', second) && lines.text.startsWith('@@ -', lines.endOf(second))
}

/** The content of the header lines of a git section. */
interface GitHeader {
  readonly line: number
  readonly common: string | undefined
  oldName: string | undefined
  newName: string | undefined
  oldMode?: Mode
  newMode?: Mode
  ids?: readonly [string, string]
  isNew: boolean
  isDelete: boolean
  isRename: boolean
  isCopy: boolean
}

function parseGitSection(lines: LineReader): FileChange | undefined {
  const header: GitHeader = {
    line: lines.number,
    common: commonName(lines.rest(11), lines.number),
    oldName: undefined,
    newName: undefined,
    isNew: false,
    isDelete: false,
    isRename: false,
    isCopy: false,
  }
  lines.next()
  const first = lines.number
  while (readHeaderLine(lines, header)) {
    const kinds = [header.isNew, header.isDelete, header.isRename, header.isCopy].filter(Boolean).length
    if (kinds > 1) throw invalidPatch(lines.number, 'the header is contradictory, such as both new and renamed')
    lines.next()
  }
  const isEmpty = lines.number === first
  if (isEmpty && !lines.startsWith('@@ -') && !lines.startsWith('GIT binary') && !isBinaryNotice(lines))
    return undefined
  if (header.oldName === undefined && header.newName === undefined) {
    if (header.common === undefined) {
      throw invalidPatch(header.line, 'the header does not state the name of the file unambiguously')
    }
    // A new or deleted file already has a name here.
    header.oldName = header.common
    header.newName = header.common
  }
  const oldPath = header.isNew ? null : header.oldName
  const newPath = header.isDelete ? null : header.newName
  if (oldPath === undefined || newPath === undefined) {
    throw invalidPatch(header.line, 'the header states only one of the two names')
  }
  const kind = header.isNew
    ? 'create'
    : header.isDelete
      ? 'delete'
      : header.isCopy
        ? 'copy'
        : header.isRename || oldPath !== newPath
          ? 'rename'
          : 'modify'
  const hunks = parseHunks(lines)
  const section = {
    line: header.line,
    kind,
    oldPath,
    newPath,
    mayCreate: false,
    ...(header.oldMode === undefined ? {} : { oldMode: header.oldMode }),
    ...(header.newMode === undefined ? {} : { newMode: header.newMode }),
  } as const
  if (hunks.length === 0) {
    const binary = parseBinaryBody(lines, header)
    if (binary !== undefined) return { ...section, body: binary, insertions: 0, deletions: 0 }
    const changesMode =
      header.newMode !== undefined && header.oldMode !== undefined && header.newMode !== header.oldMode
    if (kind === 'modify' && !changesMode) throw invalidPatch(header.line, 'the section changes nothing')
  }
  return finish(section, hunks)
}

/** Reads one header line. Returns false at the end of the header. */
function readHeaderLine(lines: LineReader, header: GitHeader): boolean {
  const { number } = lines
  if (lines.startsWith('--- ')) {
    header.oldName = verifiedName(lines.rest(4), header.oldName, header.isNew, number)
  } else if (lines.startsWith('+++ ')) {
    header.newName = verifiedName(lines.rest(4), header.newName, header.isDelete, number)
  } else if (lines.startsWith('old mode ')) header.oldMode = modeOf(lines.rest(9), number)
  else if (lines.startsWith('new mode ')) header.newMode = modeOf(lines.rest(9), number)
  else if (lines.startsWith('deleted file mode ')) {
    header.isDelete = true
    header.oldName = header.common
    header.oldMode = modeOf(lines.rest(18), number)
  } else if (lines.startsWith('new file mode ')) {
    header.isNew = true
    header.newName = header.common
    header.newMode = modeOf(lines.rest(14), number)
  } else if (lines.startsWith('copy from ')) {
    header.isCopy = true
    header.oldName = headerName(lines.rest(10), 0, 'line', number)
  } else if (lines.startsWith('copy to ')) {
    header.isCopy = true
    header.newName = headerName(lines.rest(8), 0, 'line', number)
  } else if (lines.startsWith('rename from ') || lines.startsWith('rename old ')) {
    header.isRename = true
    header.oldName = headerName(lines.rest(lines.startsWith('rename old ') ? 11 : 12), 0, 'line', number)
  } else if (lines.startsWith('rename to ') || lines.startsWith('rename new ')) {
    header.isRename = true
    header.newName = headerName(lines.rest(lines.startsWith('rename new ') ? 11 : 10), 0, 'line', number)
  } else if (lines.startsWith('index ')) {
    const index = /^([0-9a-f]{1,64})\.\.([0-9a-f]{1,64})(?: ([0-7]+))?\s*$/.exec(lines.rest(6))
    if (index !== null) {
      header.ids = [index[1] as string, index[2] as string]
      if (index[3] !== undefined) modeOf(index[3], number)
    }
  } else if (!lines.startsWith('similarity index ') && !lines.startsWith('dissimilarity index ')) return false
  return true
}

/** Returns the name in a `---` or `+++` line, which must agree with the header lines before it. */
function verifiedName(rest: string, previous: string | undefined, isNull: boolean, line: number): string | undefined {
  if (isDevNull(rest)) {
    if (isNull) return undefined
    throw invalidPatch(line, 'the header says that the file exists, but this line is /dev/null')
  }
  if (isNull) throw invalidPatch(line, 'the header says that the file does not exist: /dev/null is expected')
  const name = headerName(rest, 1, 'tab', line)
  if (name === undefined) throw invalidPatch(line, 'the name has no directory to strip: a/NAME and b/NAME are expected')
  if (previous !== undefined && previous !== name)
    throw invalidPatch(line, 'the name differs from the one in the header')
  return name
}

function modeOf(text: string, line: number): Mode {
  const digits = /^[0-7]{1,7}(?=\s*$)/.exec(text)?.[0]
  if (digits === undefined) throw invalidPatch(line, 'the mode is not an octal number')
  const mode = Number.parseInt(digits, 8)
  const type = mode >> 12
  if (type === 0o12) throw refusedKind(line, 'a symbolic link')
  if (type === 0o16) throw refusedKind(line, 'a submodule')
  if (type !== 0o10) throw invalidPatch(line, `the mode ${digits} is not a file mode`)
  return (mode & 0o100) === 0 ? 0o644 : 0o755
}

function refusedKind(line: number, kind: string): ToolError {
  return new ToolError('POLICY_DENIED', `Cannot apply the patch: line ${line} creates or changes ${kind}`, {
    line,
    hint: 'Patches can only change files: remove that section.',
  })
}

function parsePlainSection(lines: LineReader): FileChange {
  const { number: line } = lines
  const first = lines.rest(4)
  lines.next()
  const second = lines.rest(4)
  lines.next()
  const strip = isPlainName(first, line) && isPlainName(second, line + 1) ? 0 : 1
  const isNull = [isDevNull(first), isDevNull(second)] as const
  if (isNull[0] && isNull[1]) throw invalidPatch(line, 'both names are /dev/null')
  const oldName = isNull[0] ? undefined : timedName(first, strip, undefined, line)
  const name = isNull[1] ? oldName : timedName(second, strip, oldName, line + 1)
  if (name === undefined) throw invalidPatch(line, 'the header does not state the name of the file: a/NAME is expected')
  const hunks = parseHunks(lines)
  const kind = isNull[0] || isEpoch(first) ? 'create' : isNull[1] || isEpoch(second) ? 'delete' : 'modify'
  // A single hunk that only adds lines may also mean a new file.
  const mayCreate = kind === 'modify' && hunks.length === 1 && hunks.every(({ oldLines }) => oldLines.length === 0)
  return finish(
    { line, kind, oldPath: kind === 'create' ? null : name, newPath: kind === 'delete' ? null : name, mayCreate },
    hunks,
  )
}

/** Whether a name has no directory, as from `diff -u old.c new.c`. Nothing is stripped from it. */
function isPlainName(rest: string, line: number): boolean {
  return isDevNull(rest) || !(timedName(rest, 0, undefined, line) ?? '/').includes('/')
}

function finish(section: Omit<FileChange, 'body' | 'insertions' | 'deletions'>, hunks: readonly Hunk[]): FileChange {
  let insertions = 0
  let deletions = 0
  for (const { oldLines, newLines, context } of hunks as readonly CountedHunk[]) {
    insertions += newLines.length - context
    deletions += oldLines.length - context
    if (section.kind === 'create' && oldLines.length > 0) throw invalidPatch(section.line, 'a new file has old lines')
    if (section.kind === 'delete' && newLines.length > 0)
      throw invalidPatch(section.line, 'a deleted file has new lines')
  }
  return { ...section, body: { type: 'hunks', hunks }, insertions, deletions }
}

interface CountedHunk extends Hunk {
  /** Number of unchanged lines. */
  readonly context: number
}

function parseHunks(lines: LineReader): CountedHunk[] {
  const hunks: CountedHunk[] = []
  while (lines.startsWith('@@ -')) hunks.push(parseHunk(lines))
  return hunks
}

const header = /@@ -(\d{1,15})(?:,(\d{1,15}))? \+(\d{1,15})(?:,(\d{1,15}))? @@/y

function hunkHeader(lines: LineReader): RegExpExecArray | undefined {
  header.lastIndex = lines.at
  return header.exec(lines.text) ?? undefined
}

function parseHunk(lines: LineReader): CountedHunk {
  const { number: line, text } = lines
  const match = hunkHeader(lines)
  if (match === undefined)
    throw invalidPatch(line, 'the header of the hunk is malformed', '@@ -START,LINES +START,LINES @@')
  const [, oldStart, oldCount = '1', newStart, newCount = '1'] = match
  let oldLeft = Number(oldCount)
  let newLeft = Number(newCount)
  const oldLines: string[] = []
  const newLines: string[] = []
  let context = 0
  let leading = 0
  let trailing = 0
  let oldEnds = false
  let newEnds = false
  let at = lines.endOf(lines.at)
  let number = line + 1
  while (oldLeft > 0 || newLeft > 0) {
    if (at >= text.length) throw wrongCount(line, number, 'the patch ends before the number of lines in the header')
    const end = lines.endOf(at)
    const unit = text.charCodeAt(at)
    const isOld = unit === BLANK || unit === MINUS || unit === NEWLINE
    const isNew = unit === BLANK || unit === PLUS || unit === NEWLINE
    if (!isOld && !isNew) throw wrongCount(line, number, 'the hunk ends before the number of lines in its header')
    if ((isOld && oldLeft === 0) || (isNew && newLeft === 0)) {
      throw wrongCount(
        line,
        number,
        `the hunk has more ${isOld && oldLeft === 0 ? 'old' : 'new'} lines than its header counts`,
      )
    }
    if ((isOld && oldEnds) || (isNew && newEnds)) throw invalidPatch(number, 'a line after the one without a newline')
    const marker = markerLength(lines, end)
    const content = text.slice(unit === NEWLINE ? at : at + 1, marker === 0 ? end : end - 1)
    if (isOld) {
      oldLines.push(content)
      oldLeft -= 1
      oldEnds = marker !== 0
    }
    if (isNew) {
      newLines.push(content)
      newLeft -= 1
      newEnds = marker !== 0
    }
    if (isOld && isNew) {
      if (context === oldLines.length - 1 && context === newLines.length - 1) leading += 1
      context += 1
      trailing += 1
    } else trailing = 0
    at = end + marker
    number += marker === 0 ? 1 : 2
  }
  lines.at = at
  lines.number = number
  if (context === oldLines.length && context === newLines.length) throw invalidPatch(line, 'the hunk changes nothing')
  refuseMore(lines, line)
  return {
    line,
    oldStart: Number(oldStart),
    newStart: Number(newStart),
    leading,
    trailing,
    oldLines,
    newLines,
    context,
  }
}

const NEWLINE = 10
const BLANK = 32
const PLUS = 43
const MINUS = 45

/** Returns the length of a `\ No newline at end of file` line, in any language; 0 for another line. */
function markerLength(lines: LineReader, at: number): number {
  if (lines.text.charCodeAt(at) !== 92 || !lines.text.startsWith('\\ ', at)) return 0
  const length = lines.endOf(at) - at
  return length < 12 ? 0 : length
}

/** Refuses lines that continue a hunk beyond the count in its header. A mail signature or another file may follow. */
function refuseMore(lines: LineReader, headerLine: number): void {
  const unit = lines.text.charCodeAt(lines.at)
  if (unit !== BLANK && unit !== PLUS && unit !== MINUS) return
  if (unit === MINUS && (/^--[ \r]*$/.test(lines.rest(0)) || startsHeader(lines))) return
  throw wrongCount(headerLine, lines.number, 'the hunk has more lines than its header counts')
}

function wrongCount(headerLine: number, line: number, reason: string): ToolError {
  return invalidPatch(
    line,
    `${reason} (line ${headerLine})`,
    'Count the lines of the hunk again: old lines are those with a blank or -, new lines those with a blank or +.',
  )
}

function isBinaryNotice(lines: LineReader): boolean {
  return (
    (lines.startsWith('Binary files ') || lines.startsWith('Files ')) && lines.rest(0).trimEnd().endsWith(' differ')
  )
}

function parseBinaryBody(lines: LineReader, { line, ids }: GitHeader): BinaryBody | undefined {
  if (isBinaryNotice(lines)) {
    throw new ToolError(
      'UNSUPPORTED_BINARY',
      `Cannot apply the patch: line ${lines.number} mentions a binary file without its content`,
      {
        line: lines.number,
        hint: 'Remove the file, or create the patch with git diff --binary.',
      },
    )
  }
  if (lines.rest(0).trimEnd() !== 'GIT binary patch') return undefined
  lines.next()
  const forward = parseBinary(lines)
  if (forward === undefined) throw invalidPatch(lines.number, 'literal SIZE or delta SIZE is expected')
  parseBinary(lines)
  if (ids === undefined || !ids.every(isFullId)) {
    throw invalidPatch(
      line,
      'a binary change needs an index line with full object ids (git diff --binary --full-index)',
    )
  }
  return { ...forward, oldId: ids[0], newId: ids[1] }
}

function isFullId(id: string): boolean {
  return id.length === 40 || id.length === 64
}
