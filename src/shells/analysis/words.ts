import type { ArrayValue, Assignment, Word, WordPart } from 'unbash'
import type { TextRange } from './verdict.ts'

/** One word of a command after quote removal, as far as it is known before run time. */
export interface Argument {
  /** The word that the program receives, or `undefined` when it is only known at run time. */
  readonly literal: string | undefined
  /** The literal text at its start. */
  readonly lead: string
  /** The word may expand to no word, or to several. */
  readonly splits: boolean
  /** A brace list was expanded in it, which not every shell does. */
  readonly braces: boolean
  /** Always a path inside the workspace, such as `{}` of `find`. */
  readonly inside: boolean
  readonly raw: string
  readonly at: TextRange
}

const MAX_ALTERNATIVES = 64

/** Returns the words of a node: one, or those of its plain brace lists. */
export function argumentsOf(node: Word | Assignment, at?: TextRange): Argument[] {
  const range = at ?? ([node.pos, node.end] as const)
  if (node.type === 'Word') return fromPieces(piecesOf(node), node.text, range)
  const head: Piece = { text: `${node.name}${node.append === true ? '+' : ''}=` }
  if (node.index !== undefined || node.value.type === 'ArrayValue') return fromPieces([head, unknown], node.text, range)
  return fromPieces([head, ...piecesOf(node.value)], node.text, range)
}

/** Returns the value of a word if it is known and is one word. */
export function literalOf(word: Word | ArrayValue | undefined): string | undefined {
  if (word === undefined || word.type === 'ArrayValue') return undefined
  const [only, ...more] = argumentsOf(word)
  return more.length > 0 ? undefined : only?.literal
}

/** Returns the text of a word, or an empty string if it is unknown or missing. */
export function knownText(argument: Argument | undefined): string {
  return argument?.literal ?? ''
}

export function literalArgument(text: string, at: TextRange): Argument {
  return { literal: text, lead: text, splits: false, braces: false, inside: false, raw: text, at }
}

/** Returns an argument for words that are unknown or too many, such as the input of `xargs`. */
export function unknownArgument(at: TextRange): Argument {
  return { literal: undefined, lead: '', splits: true, braces: false, inside: false, raw: '…', at }
}

/** Whether an argument is an option, or may become one at run time. */
export function mayBeOption(argument: Argument): boolean {
  if (argument.literal !== undefined) return argument.literal.startsWith('-')
  return argument.lead === '' || argument.lead.startsWith('-') || argument.splits
}

/** A part of a word: text, alternatives, or an unknown part. */
interface Piece {
  readonly text?: string
  readonly alternatives?: readonly string[]
  /** An unknown unquoted part, which may expand to several words. */
  readonly splits?: boolean
}

function piecesOf(word: Word): Piece[] {
  // A tilde expands to a directory that is not part of the line.
  if (word.parts === undefined) return [...(/^~|[:=]~/.test(word.text) ? [unknown] : []), { text: word.value }]
  return word.parts.flatMap((part, index) =>
    part.type === 'Literal' && (/[:=]~/.test(part.text) || (index === 0 && part.text.startsWith('~')))
      ? [unknown, pieceOf(part)]
      : piecesOfPart(part),
  )
}

/** An unknown part that stays one word. */
const unknown: Piece = {}

/** Returns the parts of a quoted text separately, because its start is often known. */
function piecesOfPart(part: WordPart): Piece[] {
  if (part.type !== 'DoubleQuoted') return [pieceOf(part)]
  // "$@" expands to several words although it is quoted, as do "${a[@]:1}" and "${x:-$@}".
  return part.parts.map((inner) => ({ ...pieceOf(inner), splits: /^\$(@|\{.*@)/s.test(inner.text) }))
}

function pieceOf(part: WordPart): Piece {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return { text: part.value }
    case 'Glob':
    case 'ArithmeticExpansion':
      return unknown
    case 'BraceExpansion': {
      const alternatives = parseBraceList(part.text)
      return alternatives === undefined ? { splits: true } : { alternatives }
    }
    case 'CommandExpansion':
      return /^\$\(\s*nproc\s*\)$/.test(part.text) ? { text: '1' } : { splits: true }
    default:
      return { splits: true }
  }
}

function parseBraceList(text: string): string[] | undefined {
  if (!/^\{[\w./@-]*(,[\w./@-]*)+\}$/.test(text)) return undefined
  return text.slice(1, -1).split(',')
}

function fromPieces(pieces: readonly Piece[], raw: string, at: TextRange): Argument[] {
  let words: { text: string; lead: string; literal: boolean; splits: boolean }[] = [
    { text: '', lead: '', literal: true, splits: false },
  ]
  for (const piece of pieces) {
    const texts = piece.alternatives ?? (piece.text === undefined ? undefined : [piece.text])
    if (texts === undefined) {
      words = words.map((word) => ({ ...word, literal: false, splits: word.splits || piece.splits === true }))
    } else if (words.length * texts.length > MAX_ALTERNATIVES) {
      return [{ ...unknownArgument(at), raw }]
    } else {
      words = words.flatMap((word) =>
        texts.map((text) => ({ ...word, text: word.text + text, lead: word.literal ? word.lead + text : word.lead })),
      )
    }
  }
  return words.map(({ text, lead, literal, splits }) => ({
    literal: literal ? text : undefined,
    lead,
    splits,
    braces: pieces.some(({ alternatives }) => alternatives !== undefined),
    inside: false,
    raw,
    at,
  }))
}
