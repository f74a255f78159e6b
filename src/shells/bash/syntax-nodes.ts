import type { WordNode } from 'just-bash'

/** A node of a parsed script, by its fields. */
export type SyntaxNode = Readonly<Record<string, unknown>>

/** Returns a node and all nodes below it. */
export function nodesOf(root: object): SyntaxNode[] {
  const nodes: SyntaxNode[] = []
  const pending: object[] = [root]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (!Array.isArray(node)) nodes.push(node as SyntaxNode)
    for (const value of Object.values(node)) if (typeof value === 'object' && value !== null) pending.push(value)
  }
  return nodes
}

/** Returns the text of a word that is one literal; otherwise an empty text. */
export function literalOf(word: unknown): string {
  const [part, ...rest] = (word as WordNode | null | undefined)?.parts ?? []
  return part?.type === 'Literal' && rest.length === 0 ? part.value : ''
}
