import { countOf } from './code-points.ts'
import { foldCase } from './fold.ts'
import type { Node } from './syntax.ts'

/** Texts of which every match holds at least one. */
export interface Required {
  readonly texts: readonly string[]
  /** The texts hold letters that match in either case (ASCII only), given in lower case. */
  readonly ignoreCase: boolean
  /** Every match starts with one of the texts. */
  readonly leading: boolean
}

/**
 * What a text must hold for a pattern to match in it, as few and as rare as can be found; the cheapest by `costOf`.
 * `undefined` where nothing is certain, as for `\w+` or `a*`.
 */
export function requiredTexts(root: Node, costOf: (required: Required) => number): Required | undefined {
  const { exact, inner } = analyse(root)
  return cheapest([exact, inner])

  function analyse(node: Node): Found {
    switch (node.type) {
      case 'empty':
      case 'assert':
        return { exact: NOTHING, inner: undefined }
      case 'char':
        return { exact: charTexts(node.codePoint, node.ignoreCase), inner: undefined }
      case 'set':
        return { exact: countOf(node.set) <= MAX_TEXTS ? setTexts(node.set) : undefined, inner: undefined }
      case 'concat':
        return inSequence(node.parts.map(analyse))
      case 'alternate':
        return inAlternatives(node.options.map(analyse))
      case 'repeat': {
        if (node.max === 0) return { exact: NOTHING, inner: undefined }
        if (node.min === 0) return { exact: undefined, inner: undefined }
        const body = analyse(node.node)
        if (node.max === node.min && node.min <= MAX_LENGTH) return inSequence(new Array<Found>(node.min).fill(body))
        return { exact: undefined, inner: cheapest([body.exact, body.inner]) }
      }
    }
  }

  function inSequence(parts: readonly Found[]): Found {
    const found: (Required | undefined)[] = []
    let run: Required = NOTHING
    let whole = true
    for (const { exact, inner } of parts) {
      // What is inside a part leads only where nothing can come before that part.
      const leads = run.leading && run.texts.length === 1 && run.texts[0] === ''
      if (inner !== undefined) found.push(leads ? inner : { ...inner, leading: false })
      const longer = exact === undefined ? undefined : join(run, exact)
      if (longer !== undefined) {
        run = longer
        continue
      }
      whole = false
      found.push(run)
      run = { ...(exact ?? NOTHING), leading: false }
    }
    return whole ? { exact: run, inner: undefined } : { exact: undefined, inner: cheapest([...found, run]) }
  }

  function inAlternatives(each: readonly Found[]): Found {
    const exact = unite(each.map((option) => option.exact))
    if (exact !== undefined) return { exact, inner: undefined }
    return { exact: undefined, inner: unite(each.map((option) => cheapest([option.exact, option.inner]))) }
  }

  function cheapest(candidates: readonly (Required | undefined)[]): Required | undefined {
    let best: Required | undefined
    let lowest = Number.POSITIVE_INFINITY
    for (const candidate of candidates) {
      if (candidate === undefined || candidate.texts.includes('')) continue
      const cost = costOf(candidate)
      // Of equals, the first: what leads stands before what does not.
      if (cost < lowest) {
        lowest = cost
        best = candidate
      }
    }
    return best
  }
}

interface Found {
  /** All texts that a node matches, if they are few. */
  readonly exact: Required | undefined
  /** Otherwise, the best that is in every match of it. */
  readonly inner: Required | undefined
}

/** The one text, and no other, that a pattern matches: a pattern without any operator. */
export function wholeText(root: Node): { readonly text: string; readonly ignoreCase: boolean } | undefined {
  const parts = root.type === 'concat' ? root.parts : [root]
  let text = ''
  let folded = false
  let exact = false
  for (const part of parts) {
    if (part.type !== 'char') return undefined
    const char = String.fromCodePoint(part.codePoint)
    if (/[A-Za-z]/.test(char)) {
      if (part.ignoreCase) folded = true
      else exact = true
    } else if (part.ignoreCase && countOf(foldCase([part.codePoint, part.codePoint])) > 1) {
      return undefined
    }
    text += char
  }
  return folded && exact ? undefined : { text, ignoreCase: folded }
}

/** More texts than these cost more to look for than they save. */
const MAX_TEXTS = 8
/** In UTF-16 units; what is longer is no rarer. */
const MAX_LENGTH = 64

const NOTHING: Required = { texts: [''], ignoreCase: false, leading: true }

/** Every text of the first followed by every one of the second, unless that is too much. */
function join(first: Required, second: Required): Required | undefined {
  if (first.texts.length * second.texts.length > MAX_TEXTS) return undefined
  const ignoreCase = first.ignoreCase || second.ignoreCase
  const texts = new Set<string>()
  for (const head of first.texts) {
    for (const tail of second.texts) {
      if (head.length + tail.length > MAX_LENGTH) return undefined
      texts.add(ignoreCase ? lowerAscii(head + tail) : head + tail)
    }
  }
  return { texts: [...texts], ignoreCase, leading: first.leading }
}

function unite(options: readonly (Required | undefined)[]): Required | undefined {
  const texts = new Set<string>()
  const ignoreCase = options.some((option) => option?.ignoreCase)
  for (const option of options) {
    if (option === undefined) return undefined
    for (const text of option.texts) texts.add(ignoreCase ? lowerAscii(text) : text)
    if (texts.size > MAX_TEXTS) return undefined
  }
  return { texts: [...texts], ignoreCase, leading: options.every((option) => option?.leading) }
}

function charTexts(codePoint: number, ignoreCase: boolean): Required | undefined {
  const char = String.fromCodePoint(codePoint)
  if (!ignoreCase) return { texts: [char], ignoreCase: false, leading: true }
  if (codePoint < 0x80) return { texts: [char.toLowerCase()], ignoreCase: /[A-Za-z]/.test(char), leading: true }
  return setTexts(foldCase([codePoint, codePoint]))
}

function setTexts(set: readonly number[]): Required {
  const texts: string[] = []
  for (let i = 0; i < set.length; i += 2) {
    for (let codePoint = set[i] as number; codePoint <= (set[i + 1] as number); codePoint++) {
      texts.push(String.fromCodePoint(codePoint))
    }
  }
  return { texts, ignoreCase: false, leading: true }
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
