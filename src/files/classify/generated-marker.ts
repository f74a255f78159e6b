import { latin1 } from '../../util/native-bytes.ts'
import type { FileKind } from './types.ts'

/** Whether a comment at the top of a text declares the file as generated. `top` is its first 2 KiB or so. */
export function hasGeneratedMarker(top: string, kind: FileKind): boolean {
  // A fast search that is enough for most files. A search for a text of eight letters takes six times as long.
  if (!/enerated|ENERATED/.test(top)) return false
  const comment = kind === 'TEXT_DOC' ? DOCUMENT_COMMENT : COMMENT
  return top.split(/\r?\n|\r/).some((line) => comment.test(line) && isMarker(line))
}

const WINDOW = 2048

/** Decodes the top of a file well enough to find a marker. */
export function decodeCommentText(bytes: Uint8Array): string {
  const top = latin1(bytes, 0, Math.min(bytes.length, WINDOW))
  // ASCII in UTF-16 without its NUL bytes is ASCII.
  return (bytes[0] as number) >= 0xfe ? top.replaceAll('\0', '') : top
}

/** Matches the start of a comment line in common languages. In prose, only HTML and reStructuredText have comments. */
const COMMENT = /^[\s\xef\xbb\xbf\xff\xfe]{0,200}(?:\/\/|\/\*|\*|#|--|<!--|;|%|\{-|\(\*|"""|'|@?rem\b|dnl\b)/i
const DOCUMENT_COMMENT = /^[\s\xef\xbb\xbf\xff\xfe]{0,200}(?:<!--|\.\. )/

/** Matches the tag itself. `@generated` in quotes or backticks is prose about it. */
const TAG = /[\s*/#]@generated(?=$|[\s.:;,*/-])/i

function isMarker(line: string): boolean {
  if (TAG.test(line) || line.includes('GENERATED CODE') || /<auto-?generated\b/i.test(line)) return true
  const lower = line.toLowerCase()
  const generated = lower.search(/\b(?:auto-?)?generated\b/)
  return generated !== -1 && /\bdo not (?:edit|modify|change)\b/.test(lower.slice(generated))
}
