import type { LogicalPath } from '../paths/logical-path.ts'
import { sameBytes } from '../util/bytes.ts'
import { fromByteText } from '../util/native-bytes.ts'
import { changedRegions, lineEndAfter, lineStartBefore, type Region } from './line-diff.ts'
import { quoteName } from './quoted-name.ts'

/** One state of a text file. Where this type is nullable, `null` means that the file does not exist. */
export interface FileVersion {
  readonly path: LogicalPath
  readonly text: string
  /**
   * Permission bits, such as 0o644, or git's mode of a link (`LINK_MODE`) or submodule. `git apply` takes over only whether
   * the owner may execute the file. Default: the mode of the other state.
   */
  readonly mode?: number
  /** The id of the blob, for a link or submodule. */
  readonly id?: string
}

/** One state of a binary file. */
export interface BinaryVersion {
  readonly path: LogicalPath
  readonly bytes: Uint8Array
  readonly mode?: number
}

/** The part of git's mode that stands for a file. */
export const FILE_MODE = 0o100000

/** git's mode of a symbolic link. */
export const LINK_MODE = 0o120000

/**
 * Returns the part of a mode that distinguishes file, link and submodule. Between them there is no section in a patch: the
 * change is a deletion and an addition.
 */
export function typeOfMode(mode = 0): number {
  const type = mode & 0o170000
  return type === 0 ? FILE_MODE : type
}

/** A diff as text, and its numbers of lines. */
export interface UnifiedDiff {
  /** `''` if nothing changed. */
  readonly text: string
  /** Lines added. */
  readonly insertions: number
  /** Lines removed. */
  readonly deletions: number
}

/**
 * Returns the section of one file in a patch, in the format of `git diff`: `git apply` produces the new state from it, and
 * `git apply -R` the old one. Two states with different paths are a rename. There is no `index` line.
 *
 * @param options.context number of unchanged lines around a change. Default: 3
 * @param options.regions the changes between the two texts, if they are known
 * @param options.areBytes whether each unit of the texts is a byte of UTF-8. The diff is decoded
 *
 * @example
 * unifiedDiff({ path, text: 'a\n' }, { path, text: 'b\n' }).text
 * // 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n'
 */
export function unifiedDiff(
  oldVersion: FileVersion | null,
  newVersion: FileVersion | null,
  options: { readonly context?: number; readonly regions?: readonly Region[]; readonly areBytes?: boolean } = {},
): UnifiedDiff {
  const oldText = oldVersion?.text ?? ''
  const newText = newVersion?.text ?? ''
  const { context = 3, regions = changedRegions(oldText, newText), areBytes = false } = options
  let header = headerOf(oldVersion, newVersion, () => similarity(oldText, newText, regions))
  if (regions.length === 0) return { text: header, insertions: 0, deletions: 0 }
  if (header === '') header = gitLine(oldVersion as FileVersion, newVersion as FileVersion)
  let insertions = 0
  let deletions = 0
  for (const region of regions) {
    insertions += region.newLines
    deletions += region.oldLines
  }
  const names = `--- ${fileLine('a', oldVersion)}\n+++ ${fileLine('b', newVersion)}\n`
  header += typeLine(oldVersion, newVersion)
  const body = hunks(oldText, newText, regions, context, areBytes ? firstUnits : firstBytes)
  return { text: header + names + (areBytes ? decodeBytes(body) : body), insertions, deletions }
}

/** Returns the section of a binary file: it only states that the contents differ. `git apply` refuses such a section. */
export function binaryDiff(oldVersion: BinaryVersion | null, newVersion: BinaryVersion | null): UnifiedDiff {
  const equal = sameBytes(oldVersion?.bytes ?? NOTHING, newVersion?.bytes ?? NOTHING)
  let text = headerOf(oldVersion, newVersion, () => (equal ? 100 : 50))
  if (!equal) {
    if (text === '') text = gitLine(oldVersion as BinaryVersion, newVersion as BinaryVersion)
    text += `Binary files ${prefixed('a', oldVersion)} and ${prefixed('b', newVersion)} differ\n`
  }
  return { text, insertions: 0, deletions: 0 }
}

const NOTHING = new Uint8Array()

interface Named {
  readonly path: LogicalPath
  readonly mode?: number
}

/** Returns the header of a section; `''` if the two states do not differ in name, mode or existence. */
function headerOf(oldVersion: Named | null, newVersion: Named | null, similar: () => number): string {
  if (oldVersion === null && newVersion === null) return ''
  if (oldVersion === null) {
    const version = newVersion as Named
    return `${gitLine(version, version)}new file mode ${octalMode(version.mode)}\n`
  }
  if (newVersion === null) {
    return `${gitLine(oldVersion, oldVersion)}deleted file mode ${octalMode(oldVersion.mode)}\n`
  }
  let lines = ''
  const oldMode = octalMode(oldVersion.mode ?? newVersion.mode)
  const newMode = octalMode(newVersion.mode ?? oldVersion.mode)
  if (oldMode !== newMode) lines += `old mode ${oldMode}\nnew mode ${newMode}\n`
  if (oldVersion.path !== newVersion.path) {
    lines += `similarity index ${similar()}%\n`
    lines += `rename from ${quoteName(oldVersion.path)}\nrename to ${quoteName(newVersion.path)}\n`
  }
  return lines === '' ? '' : gitLine(oldVersion, newVersion) + lines
}

function gitLine(oldVersion: Named, newVersion: Named): string {
  return `diff --git ${quoteTrailingSpace('a', oldVersion)} ${quoteTrailingSpace('b', newVersion)}\n`
}

/** Quotes the name of a directory that ends in a space. git does not, and then cannot read its own line. */
function quoteTrailingSpace(side: 'a' | 'b', version: Named): string {
  const name = prefixed(side, version)
  return name.includes(' /') && name.charCodeAt(0) !== QUOTE ? `"${name}"` : name
}

function prefixed(side: 'a' | 'b', version: Named | null): string {
  return version === null ? '/dev/null' : quoteName(`${side}/${version.path}`)
}

/** Ends a name that contains a space with a tab, as git does, so that its last part is not read as a time. */
function fileLine(side: 'a' | 'b', version: Named | null): string {
  const name = prefixed(side, version)
  return name.includes(' ') ? `${name}\t` : name
}

/** Returns the `index` line that states the type of a changed link or submodule; `''` for a file. */
function typeLine(oldVersion: FileVersion | null, newVersion: FileVersion | null): string {
  if (oldVersion === null || newVersion === null || typeOfMode(newVersion.mode) === FILE_MODE) return ''
  return `index ${oldVersion.id ?? NO_ID}..${newVersion.id ?? NO_ID} ${octalMode(newVersion.mode)}\n`
}

const NO_ID = '0'.repeat(40)

/** Returns a mode as a patch states it: 6 octal digits with the type. */
export function octalMode(mode = 0o644): string {
  return (mode | typeOfMode(mode)).toString(8)
}

/** Returns the share of the larger text that the other one contains, in percent; 100 only for equal texts. */
function similarity(oldText: string, newText: string, regions: readonly Region[]): number {
  if (regions.length === 0) return 100
  let sharedLength = oldText.length
  for (const region of regions) sharedLength -= region.oldTo - region.oldFrom
  return Math.min(99, Math.floor((100 * sharedLength) / Math.max(oldText.length, newText.length)))
}

function hunks(oldText: string, newText: string, regions: readonly Region[], context: number, cut: Cut): string {
  // Joined at the end: a text to which lines are added consists of many parts, each of which keeps the whole old text.
  const parts: string[] = []
  let heading = ''
  // Headings are searched for only between two hunks, so that all searches together cost one pass.
  let searched = 0
  for (let first = 0; first < regions.length; ) {
    let last = first
    while (last + 1 < regions.length && gap(regions[last] as Region, regions[last + 1] as Region) <= 2 * context) {
      last += 1
    }
    const head = regions[first] as Region
    const tail = regions[last] as Region
    let before = 0
    let from = head.oldFrom
    while (before < context && from > 0) {
      from = lineStartBefore(oldText, from)
      before += 1
    }
    let after = 0
    let to = tail.oldTo
    while (after < context && to < oldText.length) {
      to = lineEndAfter(oldText, to)
      after += 1
    }
    heading = headingBefore(oldText, from, searched, cut) ?? heading
    searched = from
    const oldLines = tail.oldLine + tail.oldLines - head.oldLine + before + after
    const newLines = tail.newLine + tail.newLines - head.newLine + before + after
    parts.push(`@@ -${range(head.oldLine - before, oldLines)} +${range(head.newLine - before, newLines)} @@`)
    parts.push(heading === '' ? '\n' : ` ${heading}\n`)
    let at = from
    for (let i = first; i <= last; i++) {
      const region = regions[i] as Region
      addLines(parts, ' ', oldText, at, region.oldFrom)
      addLines(parts, '-', oldText, region.oldFrom, region.oldTo)
      addLines(parts, '+', newText, region.newFrom, region.newTo)
      at = region.oldTo
    }
    addLines(parts, ' ', oldText, at, to)
    first = last + 1
  }
  return parts.join('')
}

function gap(first: Region, second: Region): number {
  return second.oldLine - first.oldLine - first.oldLines
}

function range(line: number, lines: number): string {
  if (lines === 1) return String(line + 1)
  return `${lines === 0 ? line : line + 1},${lines}`
}

function addLines(parts: string[], prefix: string, text: string, from: number, to: number): void {
  for (let at = from; at < to; ) {
    const next = lineEndAfter(text, at)
    parts.push(prefix, text.slice(at, next))
    at = next
  }
  if (to > from && text.charCodeAt(to - 1) !== NEWLINE) parts.push('\n\\ No newline at end of file\n')
}

const NEWLINE = 10
const QUOTE = 34

/** Returns the last line before a hunk that looks like the start of a function or section: it starts with a letter, `_` or `$`. */
function headingBefore(text: string, from: number, searched: number, cut: Cut): string | undefined {
  for (let end = from; end > searched; ) {
    const start = lineStartBefore(text, end)
    const unit = text.charCodeAt(start)
    if ((unit >= 65 && unit <= 90) || (unit >= 97 && unit <= 122) || unit === 95 || unit === 36) {
      return cut(text.slice(start, end), HEADING_BYTES).replace(/(?<![ \t-\r])[ \t-\r]+$/, '')
    }
    end = start
  }
  return undefined
}

const HEADING_BYTES = 80

/** Returns the start of a line, without splitting a character. */
type Cut = (text: string, maxBytes: number) => string

/** {@link firstBytes} of a text whose units are bytes. */
function firstUnits(text: string, max: number): string {
  let end = max
  while (end < text.length && (text.charCodeAt(end) & 0xc0) === 0x80) end -= 1
  return text.slice(0, end)
}

function decodeBytes(text: string): string {
  return /[^\0-\x7f]/.test(text) ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(fromByteText(text)) : text
}

/** Returns the start of a text, up to a number of bytes in UTF-8, without splitting a character. */
function firstBytes(text: string, max: number): string {
  let bytes = 0
  let end = 0
  for (const char of text.slice(0, max)) {
    const code = char.codePointAt(0) as number
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (bytes > max) break
    end += char.length
  }
  return text.slice(0, end)
}
