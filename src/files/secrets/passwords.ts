import type { Steps } from '../../util/steps.ts'
import { asciiSet, BASE64URL, isIn } from './ascii-set.ts'
import type { Secret } from './formats.ts'
import { visitLiteral, visitMatches } from './slices.ts'

/** The last word of a name such as `DB_PASSWORD` or `smtpPass`. `pwd` is searched apart: in one pattern, both take half as long again. */
const LAST_WORD = /pass(?:w(?:or)?d|phrase)?(?![a-z])/gi

/** A short word is one of its own, unlike that of `bypass`. */
const NAME = /passw(?:or)?d$|passphrase$|(?:^|[^a-z]|db|user|root|admin|smtp|mail|ftp)(?:pass|pwd)$/i
const CAMEL_NAME = /[a-z](?:Pass|Pwd)$/

/** Longest name, and longest value. */
const MAX_UNITS = 128

/** What follows a name: the quote behind it, the sign, and the quote before the value, in a text that another one may quote. */
const SIGN =
  /(\\{0,7}["'])?\]?([ \t]{0,8}(?:=>|:=|(?:\|\||\?\?)=?|=(?!=)|[:,>])[ \t]{0,8}|[ \t]{1,8}(?=[^ \t]))(\\{0,7}["'])?/y

/** What the line of a value contains whose name may be on another line. */
export const MAY_HOLD_VALUE = /(?:value(?:["']?[ \t]{0,8}(?:=>|[:=])|>)|<string>)[ \t]{0,8}[^\s]/i

/** White space of ASCII. A text may be one of bytes, where a part of another character can look like white space. */
const SPACE = String.raw`\t-\r `
/** What stands for a separator: white space, and characters that are not ASCII, in a text and in its bytes. */
const SEPARATOR = String.raw`${SPACE}\u0080-\uffff`
/** Where a text begins: after its byte order mark, in a text or in its bytes. */
const START = String.raw`^(?:\ufeff|\xef\xbb\xbf)?`

/** A pattern of up to `max` characters except some, in a text or in its bytes: a unit that only continues a character does not count. */
const characters = (except: string, max: number): string =>
  String.raw`[\x80-\xbf]{0,64}(?:[^${except}\x80-\xbf][\x80-\xbf]{0,64}){0,${max}}`

/** Units around a value in which the field with its name is. */
export const PAIR_UNITS = 1024

/**
 * Adds the passwords that are assigned to a name: in configuration, in lists, on command lines, in the arguments of a call, in
 * connection strings, and in pairs of fields such as `name` and `value`. Code that declares a variable has another form.
 */
export function* findPasswords(text: string, secrets: Secret[]): Steps<void> {
  yield* visitMatches(text, LAST_WORD, (at, [word]) => findPassword(text, at, at + word.length, secrets))
  for (const letters of ['wd', 'WD']) {
    yield* visitLiteral(text, letters, (at) => {
      if (/[Pp]/.test(text[at - 1] ?? '') && !/[A-Za-z]/.test(text[at + 2] ?? ''))
        findPassword(text, at - 1, at + 2, secrets)
    })
  }
}

function findPassword(text: string, wordStart: number, end: number, secrets: Secret[]): void {
  const start = startOfName(text, wordStart)
  const name = text.slice(start, end)
  if (!NAME.test(name) && !CAMEL_NAME.test(name)) return
  const place = { text, name, start, end, before: text.slice(Math.max(0, start - MAX_UNITS), start) }
  const value = assignedValue(place) ?? pairedValue(place)
  if (value !== undefined && isPassword(text.slice(value.start, value.end), value.form))
    secrets.push({ kind: 'password', start: value.start, end: value.end })
}

/** How a value is written: between quotes, as the rest of a line, or up to a separator. `env`: a line `NAME=value`. */
export type Form = 'quoted' | 'env' | 'line' | 'part'

interface Value {
  readonly start: number
  readonly end: number
  readonly form: Form
}

/** A name in a text. */
interface Place {
  readonly text: string
  readonly name: string
  readonly start: number
  readonly end: number
  /** The text before the name. */
  readonly before: string
}

/** Returns the value that a sign assigns to a name. */
function assignedValue(place: Place): Value | undefined {
  const { text, name, end, before } = place
  SIGN.lastIndex = end
  const match = SIGN.exec(text)
  if (match === null) return undefined
  const [all, close, sign = '', open] = match
  const at = end + all.length
  if (close !== undefined) return valueOfKey(place, close, sign.trim(), at, open)
  if (sign.includes(',')) return undefined
  if (sign.startsWith('>')) return before.endsWith('<') ? plainValue(text, at, 'part', isClosingTag) : undefined
  if (/[;&?]$/.test(before) && sign.trim() === '=') return plainValue(text, at, 'part', isEndOfPart)
  if (/^(?:this|self)\./.test(name)) return undefined
  return open === undefined ? plainlyAssigned(place, sign, at) : quotedlyAssigned(place, sign, at, open)
}

/** Returns the value of a name between quotes. */
function valueOfKey(
  { text, before }: Place,
  quote: string,
  sign: string,
  at: number,
  open?: string,
): Value | undefined {
  if (quoteAtEnd(before) !== quote) return undefined
  const lead = before.slice(0, -quote.length)
  if (sign === '>') return FIELD_KEY.test(lead) ? plainValue(text, at, 'part', isClosingTag) : undefined
  if (open === undefined || sign === '') return undefined
  if (sign !== ',') return quotedValue(text, at, open, () => true)
  return /[([][ \t]*$/.test(lead) ? quotedValue(text, at, open, isEndOfArguments) : undefined
}

function quotedlyAssigned({ text, name, before }: Place, sign: string, at: number, open: string): Value | undefined {
  if (LINE_START.test(before)) {
    const value = quotedValue(text, at, open, isEndOfStatement(before))
    if (value !== undefined) return value
  }
  const isArgument =
    sign.trim() === ''
      ? name.startsWith('-') || BEFORE_TWO_WORDS.test(before)
      : /\|\||\?\?/.test(sign) || (sign === '=' ? BEFORE_ARGUMENT : BEFORE_NAMED_ARGUMENT).test(before)
  return isArgument ? quotedValue(text, at, open, isEndOfArgument) : undefined
}

function plainlyAssigned({ text, name, before }: Place, sign: string, at: number): Value | undefined {
  const isOption = name.startsWith('-') && BEFORE_OPTION.test(before)
  if (sign.trim() === '') {
    const isArgument = text[at] !== '-' && (isOption || BEFORE_TWO_WORDS.test(before))
    return isArgument ? plainValue(text, at, 'part', isEndOfPart) : undefined
  }
  // YAML has a space after the colon. A test that passes has the same form.
  if (sign.endsWith(':') || /[|?]/.test(sign) || (sign.includes(':') && /^(?:pass|pwd)$/i.test(name))) return undefined
  const isUpper = /^[A-Z][A-Z0-9_]*$/.test(name)
  if (LINE_START.test(before)) {
    const value = plainValue(text, at, isUpper && sign === '=' ? 'env' : 'line', isEndOfLine(before))
    if (value !== undefined) return value
  }
  if (sign !== '=') return undefined
  const isAfterOption = AFTER_OPTION.test(before)
  if (!isOption && !isAfterOption && !(isUpper ? BEFORE_VARIABLE : BEFORE_PARAMETER).test(before)) return undefined
  return plainValue(text, at, isUpper && isAfterOption ? 'env' : 'part', isEndOfPart)
}

/** What may precede a name on its line, or on a line of a string. */
const LINE_START = new RegExp(
  String.raw`(?:(?:${START}|[\r\n])(?:[+>-]|(?:[\w./-]{1,100}:){1,2})?|\\[nrt]|["'])[ \t]*(?:- |export |env |arg |set |%env |environment=|\$env:|[$@])?$`,
  'i',
)
/** What precedes a name and a value without a sign between them. */
const BEFORE_TWO_WORDS = new RegExp(String.raw`(?:${START}|[\r\n])[ \t]*(?:ENV|setx) $`)
const BEFORE_ARGUMENT = new RegExp(`(?:^|[${SEPARATOR}(,:;&|\`$@"'])$`)
/** `(user: "…", password: "…")`, `:password => "…"`. */
const BEFORE_NAMED_ARGUMENT = /(?:[({,][ \t]*|:)$/
const BEFORE_OPTION = new RegExp(`(?:^|[${SEPARATOR}"'\`])$`)
/** `-e DB_PASSWORD=…`, `--set=db.password=…`. */
const AFTER_OPTION = new RegExp(`(?:^|[${SEPARATOR}"'\`])--?[a-z][\\w-]{0,32}[ =]["']?$`, 'i')
/** `A=b DB_PASSWORD=… npm start`. */
const BEFORE_VARIABLE = new RegExp(`(?:^|[${SEPARATOR}\`"'=,])$`)
/** `user=… password=… port=…`. */
const BEFORE_PARAMETER = new RegExp(String.raw`(?:${START}|[\r\n]|[^${SPACE},(] )$`)

/** The key of a field that has a name. */
const FIELD_KEY = /(?:name|key)(?:["']?[ \t]{0,8}(?:=>|[:=])[ \t]{0,8}|>)$/i

/** What is between two fields: a separator, or the end of a line. */
const BETWEEN = String.raw`(?:[ \t]{0,8}[,;])?[ \t]{0,32}(?:#${characters('\\r\\n', 64)})?(?:\r?\n(?:[+>]|-(?= {2}))?[ \t]{0,32})?`
const FIELD_SIGN = /["']?[ \t]{0,8}(?:=>|[:=])[ \t]{0,8}/.source
const OTHER_FIELD = `["']?\\b(?!\\w*(?:name|key|value)\\b)\\w{1,32}${FIELD_SIGN}(?:"${characters('"\\r\\n', 64)}"|'${characters("'\\r\\n", 64)}'|[\\w.-]{1,64})`
const GAP = `(?:["']|</\\w{1,16}>)?${BETWEEN}(?:${OTHER_FIELD}${BETWEEN}){0,2}["'<]?\\b\\w{0,16}`
const VALUE_KEY = `(?:value(?:${FIELD_SIGN}|>)|(?<=<)string>)`
const VALUE_AFTER = new RegExp(`${GAP}${VALUE_KEY}(["'])?`, 'iy')
const VALUE_BEFORE = new RegExp(`(?<=${VALUE_KEY}(["'])?([!#-&(-;=-~]{6,128})${GAP})`, 'diy')

/** Returns the value of the field next to one with a name: `name: DB_PASSWORD` and `value: …`, in any order. */
function pairedValue({ text, start, end, before }: Place): Value | undefined {
  const quote = quoteAtEnd(before)
  const key = FIELD_KEY.exec(before.slice(0, before.length - quote.length))
  if (key === null) return undefined
  VALUE_AFTER.lastIndex = end
  const after = VALUE_AFTER.exec(text)
  // A value without quotes after a name with quotes may be an expression of a program.
  if (after !== null) return fieldValue(text, end + after[0].length, after[1], quote === '' || !after[0].includes(','))
  VALUE_BEFORE.lastIndex = start - quote.length - key[0].length
  const { indices } = VALUE_BEFORE.exec(text) ?? {}
  return indices?.[2] && fieldValue(text, indices[2][0], indices[1] && text[indices[1][0]], quote === '')
}

function fieldValue(text: string, at: number, quote: string | undefined, mayBePlain: boolean): Value | undefined {
  if (quote !== undefined) return quotedValue(text, at, quote, () => true)
  return mayBePlain ? plainValue(text, at, 'line', isEndOfField) : undefined
}

/** Whether the text at an offset may follow a value. */
type MayFollow = (text: string, at: number) => boolean

/** Returns a value of printable ASCII without white space, if its quote and the right text follow. */
function quotedValue(text: string, start: number, quote: string, mayFollow: MayFollow): Value | undefined {
  const end = endOfMatch(QUOTED_VALUE, text, start)
  if (end === undefined || !text.startsWith(quote, end) || !mayFollow(text, end + quote.length)) return undefined
  return { start, end, form: 'quoted' }
}

/** Returns a value without quotes, if the right text follows. */
function plainValue(text: string, start: number, form: Form, mayFollow: MayFollow): Value | undefined {
  const end = endOfMatch(PLAIN_VALUE, text, start)
  return end !== undefined && mayFollow(text, end) ? { start, end, form } : undefined
}

function endOfMatch(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

const isAt =
  (pattern: RegExp): MayFollow =>
  (text, at) =>
    endOfMatch(pattern, text, at) !== undefined

const isEndOfPart = isAt(new RegExp(`$|[${SEPARATOR};&"'\`\\\\,]`, 'y'))
const isClosingTag = isAt(/<\//y)
const isEndOfArgument = isAt(new RegExp(`$|[${SEPARATOR},;)}\\]>/&|\`"'\\\\]`, 'y'))
const isEndOfArguments = isAt(/[ \t]{0,8}(?:,[ \t]{0,8}\w{1,8})?[)\]]/y)
/** Whether a line, or a part of one that ends before a pattern, ends at an offset. */
const isEndOf = (part: string): MayFollow => isAt(new RegExp(`$|[\\r\\n]|(?<=[ \\t])(?:#|//)${part}`, 'y'))
const isLineEnd = isEndOf('')
const isLineEndOfString = isEndOf(`|\\\\*["']|\\\\+[nr]`)
const isFieldEnd = isEndOf('|[,}]|</')

/** Skips white space, of any length, before an end. */
const afterSpace =
  (isEnd: MayFollow): MayFollow =>
  (text, at) => {
    let end = at
    while (text[end] === ' ' || text[end] === '\t') end += 1
    return isEnd(text, end)
  }

const isEndOfField = afterSpace(isFieldEnd)

/** Returns whether the line with a name ends: before a comment, and in a string at its end or the escape of a line end. */
const isEndOfLine = (before: string): MayFollow => afterSpace(IN_STRING.test(before) ? isLineEndOfString : isLineEnd)

const IN_STRING = new RegExp(String.raw`(?:\\[nrt]|["'])${characters(`"'\\r\\n`, 16)}$`)

/** {@link isEndOfLine}, after the sign between two statements or arguments. */
function isEndOfStatement(before: string): MayFollow {
  const isEnd = isEndOfLine(before)
  return (text, at) => isEnd(text, /[,;]/.test(text[at] ?? '') ? at + 1 : at)
}

const quoteAtEnd = (text: string): string => /\\{0,7}["']$/.exec(text)?.[0] ?? ''

function startOfName(text: string, end: number): number {
  let start = end
  while (start > 0 && end - start < MAX_UNITS && isIn(IN_NAME, text.charCodeAt(start - 1))) start -= 1
  // The escape of a line end, in a text that a string quotes.
  return text[start - 1] === '\\' && /[nrt]/.test(text[start] as string) ? start + 1 : start
}

const IN_NAME = asciiSet(`${BASE64URL}.`)

const QUOTED_VALUE = /[!#-&(-[\]-~]{6,128}/y
/** Without quotes and the brackets and separators of code. */
const PLAIN_VALUE = /[!#$%*+\-./0-:=?@A-Z^_a-z|~]{6,128}/y

/** Whether a value is a password, and not a placeholder, a reference, a label or an expression. */
export function isPassword(value: string, form: Form): boolean {
  if (!/[A-Za-z]/.test(value) || REFERENCE.test(value) || isPlaceholder(value)) return false
  if ((form === 'line' || form === 'env') && EXPRESSION.test(value)) return false
  // A label or a key of a message has letters only, and a sign at its end.
  return (
    /[0-9]/.test(value) ||
    /^[^!@#$%^&*+=~?|]*[!@#$%^&*+=~?|].*[A-Za-z]/s.test(value) ||
    (form === 'env' && /^[A-Za-z]{8,}$/.test(value))
  )
}

/** A variable, a file, an address, or an encrypted value. */
const REFERENCE =
  /^[$%<{[(/]|[${%]\{|\$\(|\{\{|:\/\/|^(?:\.{1,2}\/|ENC[[(]|vault:|file:|arn:|env[.:(])|\benviron\b|getenv|\benv\.|secrets?\.|\([^()]*\)/i

/** A path of properties, or the name of a type or format. */
const EXPRESSION =
  /^!*[a-z_$][\w$]*(?:\??\.[a-z_$][\w$]*)+$|^!![\w$]+$|^(?:big)?(?:u?int|float|base|sha|md|utf|aes)-?[0-9]{1,3}(?:array)?$/i

const PLACEHOLDER =
  /^(?:your|change|replace|insert|enter|example|placeholder|dummy|sample|fake|redacted|todo|xxx|abc123)|^(?:my|the|new|old|db|user|admin|root|test|some|super|strong|secure)?(?:secret)?(?:password|passwd|pass|pwd)(?:here)?[0-9]{0,4}$|^(?:secret|postgres|postgresql|mysql|string|undefined|required|optional|localhost|username|notarealpassword)[0-9]?$/

function isPlaceholder(value: string): boolean {
  const word = value.toLowerCase().replace(/[^a-z0-9]/g, '')
  return /^(.)\1*$/.test(word) || PLACEHOLDER.test(word)
}
