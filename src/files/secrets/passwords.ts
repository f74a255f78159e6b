import type { Steps } from '../../util/steps.ts'
import type { Secret } from './formats.ts'
import { visitMatches } from './slices.ts'

/** The end of a name such as `DB_PASSWORD`, with the sign between name and value. */
const NAME = /passw(?:or)?d(?:(["'])[ \t]{0,8}[:=]|[ \t]{0,8}(?:=>|:=|[:=])|>)[ \t]{0,8}/iy

/** The start of {@link NAME}, for a cheap first check. */
export const MAY_HOLD_PASSWORD = /passw(?:or)?d/i
const NAME_START = new RegExp(MAY_HOLD_PASSWORD, 'gi')

/** Longest name before {@link NAME}, and longest value. */
const MAX_UNITS = 128

/**
 * Adds the passwords that configuration assigns to a name: in JSON, in YAML, TOML, `.env` and similar files on a line of
 * their own, in XML, and in connection strings. Code that declares a variable or passes an argument has other forms.
 */
export function findPasswords(text: string, secrets: Secret[]): Steps<void> {
  return visitMatches(text, NAME_START, (at) => findPassword(text, at, secrets))
}

function findPassword(text: string, at: number, secrets: Secret[]): void {
  NAME.lastIndex = at
  const match = NAME.exec(text)
  const start = match === null ? undefined : valueStart(text, match)
  if (start === undefined) return
  const end = valueEnd(text, start)
  if (end !== undefined && isPassword(text.slice(start.at, end), start.form))
    secrets.push({ kind: 'password', start: start.at, end })
}

/** How a value is written: between quotes, as the rest of a line, or up to a separator. `env`: a line `NAME=value`. */
export type Form = 'quoted' | 'env' | 'line' | 'part'

interface ValueStart {
  readonly at: number
  readonly form: Form
  /** Whether the text at an offset may follow the value. */
  readonly isEnd: (text: string, at: number) => boolean
}

/** Decides by the text around a name whether its value is configuration, and where that begins. */
function valueStart(text: string, match: RegExpExecArray): ValueStart | undefined {
  const at = match.index + match[0].length
  const nameStart = startOfName(text, match.index)
  const before = text[nameStart - 1] ?? '\n'
  const quote = text[at] === '"' || text[at] === "'" ? text[at] : undefined
  if (match[1] !== undefined) {
    return before === match[1] && quote !== undefined ? quotedAt(at + 1, quote, () => true) : undefined
  }
  if (match[0].endsWith('>') && !match[0].includes('=')) {
    return before === '<' ? { at, form: 'part', isEnd: isClosingTag } : undefined
  }
  if (';&?'.includes(before)) {
    return match[0].endsWith('=') ? { at, form: 'part', isEnd: isEndOfPart } : undefined
  }
  if (!BEFORE_NAME.test(text.slice(Math.max(0, nameStart - MAX_UNITS), nameStart))) return undefined
  if (text.startsWith('this.', nameStart) || text.startsWith('self.', nameStart)) return undefined
  if (quote !== undefined) return quotedAt(at + 1, quote, isEndOfLine)
  // YAML has a space after the colon.
  if (match[0].endsWith(':')) return undefined
  return { at, form: /[A-Z]=$/.test(match[0]) ? 'env' : 'line', isEnd: isEndOfLine }
}

function quotedAt(at: number, quote: string, mayFollow: ValueStart['isEnd']): ValueStart {
  return { at, form: 'quoted', isEnd: (text, end) => text[end] === quote && mayFollow(text, end + 1) }
}

/** What may precede a name on its line. */
const BEFORE_NAME = /(?:^|[\r\n])[ \t]*(?:- |export |env |arg |set |\$env:)?["']?$/i

/** Whether a line ends at an offset, after white space and before a comment. */
function isEndOfLine(text: string, at: number): boolean {
  let end = at
  while (text[end] === ' ' || text[end] === '\t') end += 1
  if (end === text.length || text[end] === '\n' || text[end] === '\r') return true
  return end > at && (text[end] === '#' || text.startsWith('//', end))
}

const isEndOfPart = (text: string, at: number) => at === text.length || /[\s;&"'`]/.test(text[at] as string)
const isClosingTag = (text: string, at: number) => text.startsWith('</', at)

function startOfName(text: string, end: number): number {
  let start = end
  while (start > 0 && end - start < MAX_UNITS && isInName(text.charCodeAt(start - 1))) start -= 1
  return start
}

/** Whether a unit is one of `A-Za-z0-9_.-`. */
function isInName(unit: number): boolean {
  const letter = unit | 0x20
  if (letter >= 0x61 && letter <= 0x7a && unit < 0x80) return true
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x5f || unit === 0x2e || unit === 0x2d
}

/** Returns the end of a value of printable ASCII without white space, if the right text follows. */
function valueEnd(text: string, { at, form, isEnd }: ValueStart): number | undefined {
  const pattern = form === 'quoted' ? QUOTED_VALUE : PLAIN_VALUE
  pattern.lastIndex = at
  if (!pattern.test(text)) return undefined
  return isEnd(text, pattern.lastIndex) ? pattern.lastIndex : undefined
}

const QUOTED_VALUE = /[!#-&(-[\]-~]{6,128}/y
/** Without quotes and the brackets and separators of code. */
const PLAIN_VALUE = /[!#$%*+\-./0-:=?@A-Z^_a-z|~]{6,128}/y

/** Whether a value is a password, and not a placeholder, a reference, a label or an expression. */
export function isPassword(value: string, form: Form): boolean {
  if (!/[A-Za-z]/.test(value) || REFERENCE.test(value) || isPlaceholder(value)) return false
  if ((form === 'line' || form === 'env') && EXPRESSION.test(value)) return false
  // A label or a key of a message has letters only, and a sign at its end.
  return (
    /[0-9]/.test(value) || /[!@#$%^&*+=~?|].*[A-Za-z]/.test(value) || (form === 'env' && /^[A-Za-z]{8,}$/.test(value))
  )
}

/** A variable, a file, an address, or an encrypted value. */
const REFERENCE =
  /^[$%<{[(/]|[${%]\{|\$\(|\{\{|:\/\/|^(?:\.{1,2}\/|ENC[[(]|vault:|file:|arn:|env[.:(])|\benviron\b|getenv|\benv\.|secrets?\.|\(.*\)/i

/** A path of properties, or the name of a type or format. */
const EXPRESSION =
  /^[a-z_$][\w$]*(?:\.[a-z_$][\w$]*)+$|^(?:big)?(?:u?int|float|base|sha|md|utf|aes)-?[0-9]{1,3}(?:array)?$/i

const PLACEHOLDER =
  /^(?:your|change|replace|insert|enter|example|placeholder|dummy|sample|fake|redacted|todo|xxx|abc123)|^(?:my|the|new|old|db|user|admin|root|test|some|super|strong|secure)?(?:secret)?(?:password|passwd|pass|pwd)(?:here)?[0-9]{0,4}$|^(?:secret|postgres|postgresql|mysql|string|undefined|required|optional|localhost|username|notarealpassword)[0-9]?$/

function isPlaceholder(value: string): boolean {
  const word = value.toLowerCase().replace(/[^a-z0-9]/g, '')
  return /^(.)\1*$/.test(word) || PLACEHOLDER.test(word)
}
