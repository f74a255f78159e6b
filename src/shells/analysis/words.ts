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
  /** Absolute path of the file that an unknown word names. It does not start with a dash. */
  readonly path?: string
  readonly raw: string
  readonly at: TextRange
}

const MAX_ALTERNATIVES = 64

/** What is known about the expansions in words. */
export interface Expansions {
  /** The values of expansions, by their texts. */
  readonly values?: Binding | undefined
  /** Every unquoted expansion may become several words. */
  readonly splitsAll?: boolean
}

/** The values of expansions, by their texts. */
export type Binding = ReadonlyMap<string, readonly Piece[]>

/** Returns the words of a node: one, or those of its plain brace lists and of unquoted values with blanks. */
export function argumentsOf(node: Word | Assignment, at?: TextRange, known: Expansions = {}): Argument[] {
  const range = at ?? ([node.pos, node.end] as const)
  if (node.type === 'Word') return fromPieces(piecesOf(node, known), node.text, range)
  const head: Piece = { text: `${node.name}${node.append === true ? '+' : ''}=` }
  if (node.index !== undefined || node.value.type === 'ArrayValue') return fromPieces([head, unknown], node.text, range)
  return fromPieces([head, ...piecesOf(node.value, known)], node.text, range)
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
export interface Piece {
  readonly text?: string
  /** The text is the value of an unquoted expansion: blanks in it separate words, and it may be empty. */
  readonly isExpanded?: boolean
  /** Absolute path of the directory that an unknown part names. */
  readonly directory?: string
  /** The part is an absolute path. */
  readonly isAbsolute?: boolean
  readonly alternatives?: readonly string[]
  /** An unknown unquoted part, which may expand to several words. */
  readonly splits?: boolean
}

export function piecesOf(word: Word, known: Expansions = {}): Piece[] {
  // A tilde expands to a directory that is not part of the line.
  if (word.parts === undefined) return [...(/^~|[:=]~/.test(word.text) ? [unknown] : []), { text: word.value }]
  return word.parts.flatMap((part, index) =>
    part.type === 'Literal' && (/[:=]~/.test(part.text) || (index === 0 && part.text.startsWith('~')))
      ? [unknown, pieceOf(part)]
      : piecesOfPart(part, known),
  )
}

/** An unknown part that stays one word. */
const unknown: Piece = {}

/** Returns the parts of a quoted text separately, because its start is often known. */
function piecesOfPart(part: WordPart, { values, splitsAll = false }: Expansions): Piece[] {
  if (part.type !== 'DoubleQuoted') {
    if (splitsAll && part.type.endsWith('Expansion') && part.type !== 'BraceExpansion') return [{ splits: true }]
    return values?.get(part.text)?.map(unquoted) ?? [pieceOf(part)]
  }
  // "$@" expands to several words although it is quoted, as do "${a[@]:1}" and "${x:-$@}".
  return part.parts.flatMap(
    (inner) => values?.get(inner.text) ?? { ...pieceOf(inner), splits: /^\$(@|\{.*@)/s.test(inner.text) },
  )
}

/** Returns a part of the value of an unquoted expansion. */
function unquoted(piece: Piece): Piece {
  if (piece.text === undefined) return piece.directory === undefined ? { splits: true } : piece
  return /[*?[\\]/.test(piece.text) ? { splits: true } : { ...piece, isExpanded: true }
}

function pieceOf(part: WordPart): Piece {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return { text: part.value }
    case 'Glob':
      return expandsInBrackets(part) ? { splits: true } : unknown
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

/** Whether a part is a pattern in brackets with more than plain text, such as `[$x]`. */
export function expandsInBrackets(part: WordPart): boolean {
  return part.type === 'Glob' && part.parts?.some(({ type }) => type !== 'Literal') === true
}

function parseBraceList(text: string): string[] | undefined {
  if (!/^\{[\w./@-]*(,[\w./@-]*)+\}$/.test(text)) return undefined
  return text.slice(1, -1).split(',')
}

interface Draft {
  readonly text: string
  readonly lead: string
  readonly literal: boolean
  readonly splits: boolean
  /** Something of the word is not an empty expansion, so that it is a word. */
  readonly exists: boolean
  readonly path?: string
}

const EMPTY: Draft = { text: '', lead: '', literal: true, splits: false, exists: false }

function fromPieces(pieces: readonly Piece[], raw: string, at: TextRange): Argument[] {
  let words: Draft[] = [pieces.some(({ isExpanded }) => isExpanded) ? EMPTY : { ...EMPTY, exists: true }]
  const done: Draft[] = []
  for (const piece of pieces) {
    const texts = piece.alternatives ?? (piece.text === undefined ? undefined : [piece.text])
    if (piece.isExpanded === true && words.length === 1) {
      const fields = (piece.text as string).split(/[ \t\n]+/)
      for (const [index, field] of fields.entries()) {
        if (index > 0) done.push(...words.splice(0, 1, EMPTY))
        words = words.map((word) => extended(word, field, field !== ''))
      }
    } else if (texts === undefined || piece.isExpanded === true) {
      words = words.map((word) => open(word, piece))
    } else if (words.length * texts.length > MAX_ALTERNATIVES) {
      return [{ ...unknownArgument(at), raw }]
    } else {
      words = words.flatMap((word) => texts.map((text) => extended(word, text, true)))
    }
  }
  return [...done, ...words]
    .filter(({ exists }) => exists)
    .map(({ text, lead, literal, splits, path }) => ({
      literal: literal ? text : undefined,
      lead,
      splits,
      braces: pieces.some(({ alternatives }) => alternatives !== undefined),
      inside: false,
      ...(path === undefined ? {} : { path }),
      raw,
      at,
    }))
}

function extended(word: Draft, text: string, exists: boolean): Draft {
  return {
    ...word,
    text: word.text + text,
    lead: word.literal ? word.lead + text : word.lead,
    exists: word.exists || exists,
    ...(word.path === undefined ? {} : { path: word.path + text }),
  }
}

/** Returns the word with an unknown part at its end. */
function open({ path: _, ...word }: Draft, { splits = false, directory }: Piece): Draft {
  const next = { ...word, literal: false, splits: word.splits || splits, exists: true }
  // The path of a directory starts with no dash.
  return directory !== undefined && word.literal && word.text === '' ? { ...next, lead: './', path: directory } : next
}
