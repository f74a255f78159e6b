import type {
  CommandNode,
  PipelineNode,
  ScriptNode,
  SimpleCommandNode,
  StatementNode,
  TransformPlugin,
  WordNode,
} from 'just-bash'
import { callersOf, calls, implicitSubshell, isWord, literalOf, nodesOf } from './syntax-nodes.ts'

type Redirection = SimpleCommandNode['redirections'][number]
type WordPart = WordNode['parts'][number]
type ParameterExpansionPart = Extract<WordPart, { type: 'ParameterExpansion' }>

/** Scripts that are rewritten. */
const rewritten = new WeakSet<object>()

/**
 * Rewrites the line and the scripts that commands run, before other plugins see them. `home` is the directory of the user, also where a
 * script removes the variable `HOME`.
 */
export function bashSyntax(home: string): TransformPlugin {
  return {
    name: 'bash-syntax',
    transform({ ast }) {
      const nodes = nodesOf(ast)
      if (calls(nodes, new Set(['unset'])))
        for (const { parts } of nodes) if (Array.isArray(parts)) keepHome(parts, home)
      rewriteSyntax(ast as ScriptNode)
      return { ast: ast as ScriptNode }
    },
  }
}

/** Replaces `~` by `"${HOME-DIRECTORY}"`. */
function keepHome(parts: WordPart[], home: string): void {
  for (const [index, part] of parts.entries()) {
    if (part.type !== 'TildeExpansion' || part.user !== null) continue
    const word = literalWord(home)
    const operation = { type: 'DefaultValue', word, checkEmpty: false } as const
    const value: WordPart = { type: 'ParameterExpansion', parameter: 'HOME', operation }
    parts[index] = { type: 'DoubleQuoted', parts: [value, { type: 'Literal', value: '' }] }
  }
}

/**
 * Replaces what just-bash runs in another way than bash by what it runs alike: commands of pipelines and of the background that change
 * the shell run in a subshell, `|&` is `2>&1 |`, `2> FILE >&2` is `> FILE 2>&1`, `< /dev/stdin` is `<&0`, `set -u` accepts
 * `"${name:-default}"`, and the message of `${name:?}` has the name.
 */
export function rewriteSyntax(script: ScriptNode): void {
  if (rewritten.has(script)) return
  const nodes = nodesOf(script)
  const changers = callersOf(nodes, SHELL_CHANGERS)
  const keepsLast = nodes.some(({ value }) => value === 'lastpipe')
  for (const node of nodes) {
    if (node.type === 'Script') rewritten.add(node)
    else if (node.type === 'Pipeline') rewritePipeline(node as unknown as PipelineNode, changers, keepsLast)
    else if (isWord(node)) rewriteQuotedDefault(node)
    else if (node.type === 'ParameterExpansion') rewriteMessage(node as unknown as ParameterExpansionPart)
    if (Array.isArray(node.redirections)) rewriteRedirections(node.redirections as Redirection[])
    const { background } = node as Partial<StatementNode>
    if (background === true) rewriteBackground(node as unknown as StatementNode)
  }
}

/** Commands that change the directory, the descriptors, the options, the functions or the aliases of the shell. */
const SHELL_CHANGERS: ReadonlySet<string> = new Set(
  '. alias cd chdir eval exec popd pushd set shopt source unalias'.split(' '),
)

function rewritePipeline(
  { commands, pipeStderr }: PipelineNode,
  changers: ReadonlySet<string>,
  keepsLast: boolean,
): void {
  if (commands.length === 1) return
  for (const [index, command] of commands.entries()) {
    if (pipeStderr?.[index] === true && 'redirections' in command) {
      pipeStderr[index] = false
      command.redirections.push(duplicate(2, '1'))
    }
    const isKept = keepsLast && index === commands.length - 1
    if (isKept || command.type === 'Subshell' || !changesShell(command, changers)) continue
    commands[index] = implicitSubshell([statementOf([{ type: 'Pipeline', commands: [command], negated: false }])])
  }
}

function changesShell(command: CommandNode, changers: ReadonlySet<string>): boolean {
  const nodes = nodesOf(command)
  return calls(nodes, changers) || nodes.some(({ type }) => type === 'FunctionDef')
}

/** The exit code of what runs in the background is not that of the statement. */
function rewriteBackground(statement: StatementNode): void {
  const { pipelines, operators } = statement
  const succeed: PipelineNode = { type: 'Pipeline', commands: [trueCommand()], negated: false }
  const body = { ...statementOf([...pipelines, succeed], [...operators, '||']), isImplicit: true }
  statement.pipelines = [{ type: 'Pipeline', commands: [implicitSubshell([body])], negated: false }]
  statement.operators = []
}

function statementOf(pipelines: PipelineNode[], operators: StatementNode['operators'] = []): StatementNode {
  return { type: 'Statement', pipelines, operators, background: false }
}

function trueCommand(): SimpleCommandNode {
  return { type: 'SimpleCommand', assignments: [], name: literalWord(':'), args: [], redirections: [] }
}

/** Operations whose word replaces the value of an unset variable. */
const DEFAULTS: ReadonlySet<string | undefined> = new Set(['DefaultValue', 'AssignDefault', 'UseAlternative'])

/** just-bash reads the variable of a word that is nothing but `"${name:-default}"` before it looks at the default. */
function rewriteQuotedDefault({ parts }: WordNode): void {
  const [quoted, ...others] = parts
  if (others.length > 0 || quoted?.type !== 'DoubleQuoted' || quoted.parts.length !== 1) return
  const [part] = quoted.parts
  if (part?.type !== 'ParameterExpansion' || !DEFAULTS.has(part.operation?.type)) return
  // A list such as "$@" remains several words.
  if (nodesOf(part).some(({ parameter }) => /[@*]/.test(String(parameter)))) return
  quoted.parts.push({ type: 'Literal', value: '' })
}

function rewriteMessage({ parameter, operation }: ParameterExpansionPart): void {
  if (operation?.type !== 'ErrorIfUnset') return
  const parts: readonly WordPart[] = operation.word?.parts ?? []
  const isEmpty = parts.every((part) => part.type === 'Literal' && part.value === '')
  const text = isEmpty ? `${parameter}: parameter null or not set` : `${parameter}: `
  operation.word = { type: 'Word', parts: [{ type: 'Literal', value: text }, ...parts] }
}

function rewriteRedirections(redirections: Redirection[]): void {
  for (const redirection of redirections) {
    if (redirection.operator === '<' && literalOf(redirection.target) === '/dev/stdin') {
      Object.assign(redirection, { operator: '<&', target: literalWord('0') })
    }
  }
  const [first, second, ...others] = redirections
  const isFile = first?.fd === 2 && /^>[>|]?$/.test(first.operator)
  const isCopy = second?.operator === '>&' && (second.fd ?? 1) === 1 && literalOf(second.target) === '2'
  if (isFile && isCopy && others.length === 0) redirections.splice(0, 2, { ...first, fd: 1 }, duplicate(2, '1'))
}

function duplicate(fd: number, of: string): Redirection {
  return { type: 'Redirection', operator: '>&', fd, target: literalWord(of) }
}

function literalWord(value: string): WordNode {
  return { type: 'Word', parts: [{ type: 'Literal', value }] }
}
