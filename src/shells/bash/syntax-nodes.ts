import type { CommandNode, StatementNode, WordNode } from 'just-bash'

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

/** Whether a node is a word. An item of a list in braces has the type of one, and contains it. */
export function isWord(node: object): node is WordNode {
  const { type, parts } = node as Partial<WordNode>
  return type === 'Word' && Array.isArray(parts)
}

/** Returns the text of a word that is one literal; otherwise an empty text. */
export function literalOf(word: unknown): string {
  const [part, ...rest] = (word as WordNode | null | undefined)?.parts ?? []
  return part?.type === 'Literal' && rest.length === 0 ? part.value : ''
}

/** Returns names of commands, and the names of the functions that call one of them, directly or by others. */
export function callersOf(nodes: readonly SyntaxNode[], names: ReadonlySet<string>): ReadonlySet<string> {
  const callers = new Set(names)
  const functions = nodes
    .filter(({ type }) => type === 'FunctionDef')
    .map((node) => ({ ...node, nodes: nodesOf(node) }))
  for (let size = 0; size !== callers.size; ) {
    size = callers.size
    for (const { name, nodes: inside } of functions as { name: string; nodes: SyntaxNode[] }[]) {
      if (calls(inside, callers)) callers.add(name)
    }
  }
  return callers
}

export function calls(nodes: readonly SyntaxNode[], names: ReadonlySet<string>): boolean {
  return nodes.some((node) => names.has(calledName(node)))
}

/** Returns the name of a simple command if it is literal, as well as the one that `builtin` or `command` runs. */
export function calledName({ type, name, args }: SyntaxNode): string {
  if (type !== 'SimpleCommand') return ''
  const words = [name, ...(args as readonly unknown[])].map(literalOf)
  return words.find((word) => word !== 'builtin' && word !== 'command') ?? ''
}

/** Returns a subshell that this shell adds to a script. Policy on operators does not apply to it. */
export function implicitSubshell(body: StatementNode[]): CommandNode {
  return Object.assign({ type: 'Subshell' as const, body, redirections: [] }, { isImplicit: true })
}
