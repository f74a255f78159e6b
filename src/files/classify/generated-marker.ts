import { latin1 } from '../../util/native-bytes.ts'
import type { FileKind } from './types.ts'

/** Whether the top of a text says, in a comment, that the file is generated. `top` is its first 2 KiB or so. */
export function hasGeneratedMarker(top: string, kind: FileKind): boolean {
  // Most files end here, at the speed of the engine's string search.
  if (!top.includes('enerated') && !top.includes('ENERATED')) return false
  const comment = kind === 'TEXT_DOC' ? DOCUMENT_COMMENT : COMMENT
  return top.split(/\r?\n|\r/).some((line) => comment.test(line) && isMarker(line))
}

const WINDOW = 2048

/** The top of a file as text that is good enough to find a marker in. */
export function decodeCommentText(bytes: Uint8Array): string {
  const top = latin1(bytes, 0, Math.min(bytes.length, WINDOW))
  // Without its NUL bytes, ASCII in UTF-16 is ASCII.
  return (bytes[0] as number) >= 0xfe ? top.replaceAll('\0', '') : top
}

/** How a line of comment starts in the languages around; in prose only a comment of HTML or reStructuredText does. */
const COMMENT = /^[\s\xef\xbb\xbf\xff\xfe]{0,200}(?:\/\/|\/\*|\*|#|--|<!--|;|%|\{-|\(\*|"""|'|@?rem\b|dnl\b)/i
const DOCUMENT_COMMENT = /^[\s\xef\xbb\xbf\xff\xfe]{0,200}(?:<!--|\.\. )/

/** A tag, not a word about one: `@generated` in quotes or back-ticks is prose. */
const TAG = /[\s*/#]@generated(?=$|[\s.:;,*/-])/i

function isMarker(line: string): boolean {
  if (TAG.test(line) || line.includes('GENERATED CODE') || /<auto-?generated\b/i.test(line)) return true
  const lower = line.toLowerCase()
  const generated = lower.search(/\b(?:auto-?)?generated\b/)
  return generated !== -1 && /\bdo not (?:edit|modify|change)\b/.test(lower.slice(generated))
}
