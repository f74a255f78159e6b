import { ToolError } from '../errors.ts'
import { parsePath } from '../paths/logical-path.ts'
import { invalidPatch } from './invalid-patch.ts'

/** Where an unquoted name ends. It always ends at a line end and at white space other than blank and tab. */
export type NameEnd = 'tab' | 'line'

/**
 * Returns the name in a header line of a git patch, without the directories to strip (`a/`); `undefined` for a line without a name.
 *
 * @throws ToolError `INVALID_PATCH` for a quoted name that is not UTF-8, `PATH_REJECTED` for an absolute one
 */
export function headerName(rest: string, strip: number, end: NameEnd, line: number): string | undefined {
  if (rest.charCodeAt(0) === QUOTE) {
    const quoted = unquote(rest, line)
    const name = quoted === undefined ? undefined : stripped(quoted.name, strip, line)
    if (name !== undefined) return squashed(name)
  }
  return plainName(rest, strip, end, line)
}

/**
 * Returns the name in a `---` or `+++` line of GNU diff, which may end in a time. Given the name of the other side, the
 * shorter one wins if the longer one only adds to it (`a.c` and `a.c.orig`).
 */
export function timedName(rest: string, strip: number, other: string | undefined, line: number): string | undefined {
  if (rest.charCodeAt(0) === QUOTE) {
    const name = headerName(rest, strip, 'tab', line)
    if (name !== undefined) return name
  }
  const stamp = stampLength(rest)
  const name =
    stamp === 0
      ? plainName(rest, strip, 'tab', line)
      : squashedOrNone(stripped(rest.slice(0, rest.length - stamp), strip, line))
  if (name === undefined) return other
  return other !== undefined && name.startsWith(other) ? other : name
}

/** Whether a name line is `/dev/null`, which means no file. */
export function isDevNull(rest: string): boolean {
  return rest.startsWith('/dev/null') && (rest.length === 9 || isSpace(rest.charCodeAt(9)))
}

/** Whether a name line has the Unix epoch as its time, which GNU diff writes for a missing file. */
export function isEpoch(rest: string): boolean {
  const tab = rest.lastIndexOf('\t')
  if (tab === -1 || rest.length - tab > 100) return false
  const match = /^(1969-12-31|1970-01-01) (\d\d):(\d\d):00(?:\.0+)? ([+-])(\d\d):?(\d\d)$/.exec(rest.slice(tab + 1))
  if (match === null) return false
  const [, day, hour, minute, sign, zoneHour, zoneMinute] = match
  const zone = (sign === '-' ? -1 : 1) * (Number(zoneHour) * 60 + Number(zoneMinute))
  return Number(hour) * 60 + Number(minute) - zone === (day === '1969-12-31' ? 24 * 60 : 0)
}

/** Returns the name of both sides in a `diff --git` line, or `undefined` when they differ or cannot be separated. */
export function commonName(rest: string, line: number): string | undefined {
  if (rest.charCodeAt(0) === QUOTE) {
    const first = unquote(rest, line)
    if (first === undefined) return undefined
    const name = withoutFirst(first.name)
    const other = rest.slice(first.end).trimStart()
    const second = other.charCodeAt(0) === QUOTE ? unquotedName(other, line) : withoutFirst(other.trimEnd())
    if (name !== second) return undefined
    refuseOutside(first.name, line)
    refuseOutside(other, line)
    return name
  }
  const quote = rest.indexOf('"')
  if (quote !== -1) {
    const name = unquotedName(rest.slice(quote), line)
    if (withoutFirst(rest.slice(0, quote).trimEnd()) !== name) return undefined
    refuseOutside(rest, line)
    return name
  }
  if (rest.length > MAX_UNITS) return undefined
  // `a/NAME b/NAME`: both names have the same length, so the blank between them is in the middle.
  const whole = rest.endsWith('\r') ? rest.slice(0, -1) : rest
  const start = whole.indexOf('/') + 1
  for (let at = start; at < whole.length; at++) {
    const unit = whole.charCodeAt(at)
    if (unit !== BLANK && unit !== TAB) continue
    const slash = whole.indexOf('/', at + 1)
    if (slash === -1) return undefined
    // The length is checked before the names are compared, so that many blanks cost nothing.
    if (whole.length - slash - 1 !== at - start || slash === at + 1) continue
    const name = whole.slice(start, at)
    if (name === '' || !whole.endsWith(name)) continue
    refuseOutside(whole, line)
    refuseOutside(whole.slice(at + 1), line)
    return name
  }
  return undefined
}

function unquotedName(text: string, line: number): string | undefined {
  const quoted = unquote(text, line)
  return quoted === undefined ? undefined : withoutFirst(quoted.name)
}

/** More units than two names can have. */
const MAX_UNITS = 20_000
const TAB = 9
const BLANK = 32
const QUOTE = 34

function isSpace(unit: number): boolean {
  return unit === BLANK || (unit >= 9 && unit <= 13)
}

function plainName(rest: string, strip: number, end: NameEnd, line: number): string | undefined {
  let to = 0
  for (; to < rest.length; to++) {
    const unit = rest.charCodeAt(to)
    if (!isSpace(unit) || unit === BLANK) continue
    if (unit === TAB && end === 'line') continue
    break
  }
  return squashedOrNone(stripped(rest.slice(0, to), strip, line))
}

function stripped(name: string, strip: number, line: number): string | undefined {
  if (strip === 0) return name
  const shortened = withoutFirst(name)
  // The other side of the header may give the name, so this one is checked here.
  if (shortened !== undefined && OUTSIDE.test(shortened)) parsePath(shortened)
  refuseOutside(name, line)
  return shortened
}

/** A name that is absolute, or climbs. */
const OUTSIDE = /^["\s]*(?:(\/|[A-Za-z]:\/)|\.\.\/)/

/**
 * Refuses a name that is absolute or climbs, before its first directory is stripped: `/etc/x` must not become `etc/x`.
 *
 * @throws ToolError `PATH_REJECTED`
 */
function refuseOutside(name: string, line: number): void {
  const match = OUTSIDE.exec(name)
  if (match === null) return
  const reason = match[1] === undefined ? 'contains ..' : 'is absolute'
  throw new ToolError('PATH_REJECTED', `The path in line ${line} of the patch ${reason}`, { line })
}

function withoutFirst(name: string): string | undefined {
  const slash = name.indexOf('/')
  return slash === -1 ? undefined : name.slice(slash + 1)
}

function squashedOrNone(name: string | undefined): string | undefined {
  return name === undefined || name === '' ? undefined : squashed(name)
}

function squashed(name: string): string {
  return name.includes('//') ? name.replace(/\/+/g, '/') : name
}

/** Returns the length of a time at the end of a name line, with the white space before it; 0 for a line without a time. */
function stampLength(rest: string): number {
  const tail = rest.slice(-64)
  const match = /[\t ](?:\d\d)?\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?(?: [+-]\d\d:?\d\d)?$/.exec(tail)
  if (match === null) return 0
  let from = rest.length - (tail.length - match.index)
  if (rest.charCodeAt(from) === BLANK) while (rest.charCodeAt(from - 1) === BLANK) from -= 1
  return rest.length - from
}

const escapes: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['b', 8],
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
  ['"', 34],
  ['\\', 92],
])

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Parses a name in double quotes with C escapes, where an octal escape is a byte. Returns `undefined` if it is malformed. */
function unquote(text: string, line: number): { name: string; end: number } | undefined {
  const bytes: number[] = []
  let plain = 1
  for (let at = 1; at < text.length; at++) {
    const char = text[at] as string
    if (char !== '"' && char !== '\\') continue
    for (const byte of encoder.encode(text.slice(plain, at))) bytes.push(byte)
    if (char === '"') {
      try {
        return { name: decoder.decode(new Uint8Array(bytes)), end: at + 1 }
      } catch {
        throw invalidPatch(line, 'the quoted name is not UTF-8')
      }
    }
    const letter = escapes.get(text.charAt(at + 1))
    if (letter !== undefined) {
      bytes.push(letter)
      at += 1
    } else {
      const octal = text.slice(at + 1, at + 4)
      if (!/[0-3][0-7][0-7]/.test(octal)) return undefined
      bytes.push(Number.parseInt(octal, 8))
      at += 3
    }
    plain = at + 1
  }
  return undefined
}
