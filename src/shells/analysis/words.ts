import type { ArrayValue, Assignment, Word, WordPart } from 'unbash'
import type { TextRange } from './verdict.ts'

/** One word of a command after quote removal, as far as it can be known before the line runs. */
export interface Argument {
  /** What the program will get; `undefined` where only the run can tell. */
  readonly literal: string | undefined
  /** The literal text that it begins with in any case. */
  readonly lead: string
  /** It may become no word, or several. */
  readonly splits: boolean
  /** A brace list was written out in it, which not every shell does. */
  readonly braces: boolean
  /** It is a name below the workspace whatever it is: what `find` puts for `{}`. */
  readonly inside: boolean
  readonly raw: string
  readonly at: TextRange
}

const MAX_ALTERNATIVES = 64

/** The words that a node becomes: one, or those of its plain brace lists. */
export function argumentsOf(node: Word | Assignment, at?: TextRange): Argument[] {
  const range = at ?? ([node.pos, node.end] as const)
  if (node.type === 'Word') return fromPieces(piecesOf(node), node.text, range)
  const head: Piece = { text: `${node.name}${node.append === true ? '+' : ''}=` }
  if (node.index !== undefined || node.value.type === 'ArrayValue') return fromPieces([head, unknown], node.text, range)
  return fromPieces([head, ...piecesOf(node.value)], node.text, range)
}

/** The value of a word where it is known, as one word. */
export function literalOf(word: Word | ArrayValue | undefined): string | undefined {
  if (word === undefined || word.type === 'ArrayValue') return undefined
  const [only, ...more] = argumentsOf(word)
  return more.length > 0 ? undefined : only?.literal
}

/** The text of a word where all of it is known, and nothing where it is not, or where there is no word. */
export function knownText(argument: Argument | undefined): string {
  return argument?.literal ?? ''
}

export function literalArgument(text: string, at: TextRange): Argument {
  return { literal: text, lead: text, splits: false, braces: false, inside: false, raw: text, at }
}

/** Words that nobody can know before the run, or that are too many: what `xargs` reads. */
export function unknownArgument(at: TextRange): Argument {
  return { literal: undefined, lead: '', splits: true, braces: false, inside: false, raw: '…', at }
}

/** Whether it may turn out to be an option. */
export function mayBeOption(argument: Argument): boolean {
  if (argument.literal !== undefined) return argument.literal.startsWith('-')
  return argument.lead === '' || argument.lead.startsWith('-') || argument.splits
}

/** A part of a word: text, alternatives, or something unknown. */
interface Piece {
  readonly text?: string
  readonly alternatives?: readonly string[]
  /** Unknown, and unquoted: more than one word may come of it. */
  readonly splits?: boolean
}

function piecesOf(word: Word): Piece[] {
  // A tilde stands for a directory that is not part of the line.
  if (word.parts === undefined) return [...(/^~|[:=]~/.test(word.text) ? [unknown] : []), { text: word.value }]
  return word.parts.flatMap((part, index) =>
    part.type === 'Literal' && (/[:=]~/.test(part.text) || (index === 0 && part.text.startsWith('~')))
      ? [unknown, pieceOf(part)]
      : piecesOfPart(part),
  )
}

/** Nobody knows what, but one word. */
const unknown: Piece = {}

/** The pieces of a quoted text one by one: what it begins with is often known. */
function piecesOfPart(part: WordPart): Piece[] {
  if (part.type !== 'DoubleQuoted') return [pieceOf(part)]
  // "$@" becomes several words though it is quoted, as do "${a[@]:1}" and "${x:-$@}".
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
      const alternatives = plainList(part.text)
      return alternatives === undefined ? { splits: true } : { alternatives }
    }
    case 'CommandExpansion':
      return /^\$\(\s*nproc\s*\)$/.test(part.text) ? { text: '1' } : { splits: true }
    default:
      return { splits: true }
  }
}

function plainList(text: string): string[] | undefined {
  if (!/^\{[\w./@-]*(,[\w./@-]*)+\}$/.test(text)) return undefined
  return text.slice(1, -1).split(',')
}

function fromPieces(pieces: readonly Piece[], raw: string, at: TextRange): Argument[] {
  let known: { text: string; lead: string; literal: boolean; splits: boolean }[] = [
    { text: '', lead: '', literal: true, splits: false },
  ]
  for (const piece of pieces) {
    const texts = piece.alternatives ?? (piece.text === undefined ? undefined : [piece.text])
    if (texts === undefined) {
      known = known.map((word) => ({ ...word, literal: false, splits: word.splits || piece.splits === true }))
    } else if (known.length * texts.length > MAX_ALTERNATIVES) {
      return [{ ...unknownArgument(at), raw }]
    } else {
      known = known.flatMap((word) =>
        texts.map((text) => ({ ...word, text: word.text + text, lead: word.literal ? word.lead + text : word.lead })),
      )
    }
  }
  return known.map(({ text, lead, literal, splits }) => ({
    literal: literal ? text : undefined,
    lead,
    splits,
    braces: pieces.some(({ alternatives }) => alternatives !== undefined),
    inside: false,
    raw,
    at,
  }))
}
