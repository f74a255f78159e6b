import type { ScriptNode, TransformPlugin, WordNode } from 'just-bash'
import { isWord, literalOf } from './syntax-nodes.ts'

type WordPart = WordNode['parts'][number]

interface Redirected {
  readonly type: string
  /** The name of a function, or the word of a simple command. */
  readonly name?: unknown
  readonly redirections: readonly { readonly operator: string; target: { readonly type: string } }[]
}

/**
 * Makes the targets of commands absolute that may enter another directory, such as in `(cd src && ls) > names.txt`. The interpreter opens them before the
 * command, but looks for the name again after it, in the directory that the command has entered.
 */
export const absoluteTargets: TransformPlugin = {
  name: 'absolute-targets',
  transform({ ast }) {
    anchorAll(ast)
    return { ast: ast as ScriptNode }
  },
}

/** Operators that write to a file. */
const outputs: ReadonlySet<string> = new Set(['>', '>>', '>|', '&>', '&>>'])

function anchorAll(script: object): void {
  const redirected: Redirected[] = []
  const movers = new Set(['.', 'builtin', 'cd', 'command', 'eval', 'popd', 'pushd', 'source'])
  const pending: object[] = [script]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if ('redirections' in node) redirected.push(node as Redirected)
    if ('type' in node && node.type === 'FunctionDef' && 'name' in node) movers.add(String(node.name))
    for (const value of Object.values(node)) {
      if (typeof value === 'object' && value !== null) pending.push(value)
    }
  }
  for (const node of redirected) {
    if (node.type !== 'SimpleCommand' || movers.has(literalOf(node.name))) anchorTargets(node)
  }
}

function anchorTargets({ redirections }: Redirected): void {
  for (const redirection of redirections) {
    const { operator, target } = redirection
    if (!outputs.has(operator) || !isWord(target) || !isRelative(target.parts[0])) continue
    const directory: WordPart = { type: 'ParameterExpansion', parameter: 'PWD', operation: null }
    const prefix: WordPart = { type: 'DoubleQuoted', parts: [directory, { type: 'Literal', value: '/' }] }
    redirection.target = { ...target, parts: [prefix, ...target.parts] } as WordNode
  }
}

/** Whether a word begins with a text that is the start of a relative path. Expansions may be absolute. */
function isRelative(part: WordPart | undefined): boolean {
  if (part?.type === 'DoubleQuoted') return isRelative(part.parts[0])
  if (part?.type !== 'Literal' && part?.type !== 'SingleQuoted' && part?.type !== 'Escaped') return false
  return part.value !== '' && !part.value.startsWith('/')
}
