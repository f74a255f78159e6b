import { forEachChild, type SyntaxNode } from 'unbash'

interface Region {
  readonly pos: number
  readonly end: number
}

/**
 * Returns the position of a `;` outside of words, comments and here-documents: between commands, before a keyword such as
 * `then`, at the end of a list, in `;;`, or in the head of a `for ((…))`. Looks into substitutions. `undefined` if there is
 * none.
 */
export function semicolonAt(
  text: string,
  root: SyntaxNode,
  region: Region = { pos: 0, end: text.length },
): number | undefined {
  const words: Region[] = []
  const substitutions: Extract<SyntaxNode, { script: unknown }>[] = []
  const visit = (node: SyntaxNode) => {
    if ('script' in node) substitutions.push(node)
    else {
      if (textNodes.has(node.type)) words.push(node)
      forEachChild(node, visit)
    }
  }
  forEachChild(root, visit)
  const position = firstOutside(text, words, region)
  if (position !== undefined) return position
  for (const { script, pos, end } of substitutions) {
    if (script === undefined) continue
    const { source } = script
    const inner = source === undefined ? semicolonAt(text, script, { pos, end }) : semicolonAt(source, script)
    if (inner !== undefined) return pos
  }
  return undefined
}

/** Nodes whose characters are data, apart from the substitutions in them. */
const textNodes: ReadonlySet<SyntaxNode['type']> = new Set([
  'Word',
  'Assignment',
  'HereDocDelimiter',
  'HereDocBody',
  'ArithmeticWord',
  'ArithmeticCommand',
])

function firstOutside(text: string, words: Region[], { pos, end }: Region): number | undefined {
  words.sort((one, other) => one.pos - other.pos)
  let next = 0
  for (let at = pos; at < end; at++) {
    while (next < words.length && (words[next] as Region).end <= at) next += 1
    const word = words[next]
    if (word !== undefined && word.pos <= at) at = word.end - 1
    else if (text[at] === ';') return at
    else if (text[at] === '#' && (at === pos || /[\s;&|()]/.test(text[at - 1] as string))) {
      const line = text.indexOf('\n', at)
      if (line === -1) return undefined
      at = line
    }
  }
  return undefined
}
