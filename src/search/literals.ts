import { countOf } from './code-points.ts'
import { foldCase } from './fold.ts'
import type { Node } from './syntax.ts'

/** Texts of which every match contains at least one. */
export interface Required {
  readonly texts: readonly string[]
  /** ASCII letters match in either case; the texts are in lower case then. */
  readonly ignoreCase: boolean
  /** Every match starts with one of the texts. */
  readonly leading: boolean
}

/**
 * Returns the texts, cheapest by `costOf`, of which every match of a pattern contains one. Returns `undefined` for patterns
 * without such texts, such as `\w+` or `a*`.
 */
export function requiredTexts(root: Node, costOf: (required: Required) => number): Required | undefined {
  const { exact, inner } = analyze(root)
  return cheapest([exact, inner])

  function analyze(node: Node): NodeTexts {
    switch (node.type) {
      case 'empty':
      case 'assert':
        return { exact: NOTHING, inner: undefined }
      case 'char':
        return { exact: charTexts(node.codePoint, node.ignoreCase), inner: undefined }
      case 'set':
        return { exact: countOf(node.set) <= MAX_TEXTS ? setTexts(node.set) : undefined, inner: undefined }
      case 'concat':
        return inSequence(node.parts.map(analyze))
      case 'alternate':
        return inAlternatives(node.options.map(analyze))
      case 'repeat': {
        if (node.max === 0) return { exact: NOTHING, inner: undefined }
        if (node.min === 0) return { exact: undefined, inner: undefined }
        const body = analyze(node.node)
        if (node.max === node.min && node.min <= MAX_LENGTH)
          return inSequence(new Array<NodeTexts>(node.min).fill(body))
        return { exact: undefined, inner: cheapest([body.exact, body.inner]) }
      }
    }
  }

  function inSequence(parts: readonly NodeTexts[]): NodeTexts {
    const candidates: (Required | undefined)[] = []
    let run: Required = NOTHING
    let isExact = true
    for (const { exact, inner } of parts) {
      // Texts inside a part lead only if nothing can come before that part.
      const leads = run.leading && run.texts.length === 1 && run.texts[0] === ''
      if (inner !== undefined) candidates.push(leads ? inner : { ...inner, leading: false })
      const longer = exact === undefined ? undefined : join(run, exact)
      if (longer !== undefined) {
        run = longer
        continue
      }
      isExact = false
      candidates.push(run)
      run = { ...(exact ?? NOTHING), leading: false }
    }
    return isExact ? { exact: run, inner: undefined } : { exact: undefined, inner: cheapest([...candidates, run]) }
  }

  function inAlternatives(options: readonly NodeTexts[]): NodeTexts {
    const exact = unite(options.map((option) => option.exact))
    if (exact !== undefined) return { exact, inner: undefined }
    return { exact: undefined, inner: unite(options.map((option) => cheapest([option.exact, option.inner]))) }
  }

  function cheapest(candidates: readonly (Required | undefined)[]): Required | undefined {
    let best: Required | undefined
    let lowest = Number.POSITIVE_INFINITY
    for (const candidate of candidates) {
      if (candidate === undefined || candidate.texts.includes('')) continue
      const cost = costOf(candidate)
      // Prefers the first of equal cost: leading texts come first.
      if (cost < lowest) {
        lowest = cost
        best = candidate
      }
    }
    return best
  }
}

interface NodeTexts {
  /** All texts that a node matches, if they are few. */
  readonly exact: Required | undefined
  /** Otherwise, the best texts that every match contains. */
  readonly inner: Required | undefined
}

/** The only text that a pattern without operators matches; `undefined` for other patterns. */
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

/** Finding more texts than these costs more than it saves. */
const MAX_TEXTS = 8
/** In UTF-16 units. Longer texts are not noticeably rarer. */
const MAX_LENGTH = 64

const NOTHING: Required = { texts: [''], ignoreCase: false, leading: true }

/** Every text of the first followed by every one of the second, or `undefined` when these are too many or too long. */
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
