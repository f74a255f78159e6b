import type { PipelineNode, ScriptNode, SimpleCommandNode, StatementNode, WordNode } from 'just-bash'
import type { Operator } from '../../policy/command-operators.ts'

type Node = Readonly<Record<string, unknown>>
type RedirectionNode = SimpleCommandNode['redirections'][number]

/** Returns the operators in a script, each once, as the analysis of a line counts them. */
export function operatorsOf(script: ScriptNode): readonly Operator[] {
  const found = new Set<Operator>()
  const pending: unknown[] = [{ ...script, statements: writtenStatements(script.statements) }]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value !== 'object' || value === null) continue
    if (!Array.isArray(value)) addOperators(value as Node, found)
    else if (value.length > 1 && (value[0] as Node | null)?.type === 'Statement') found.add(';')
    pending.push(...Object.values(value))
  }
  return [...found]
}

/** Returns the statements without the settings that this shell writes before a script. */
function writtenStatements(statements: readonly StatementNode[]): readonly StatementNode[] {
  const first = statements.findIndex(({ pipelines }) => {
    const command = pipelines[0]?.commands[0]
    return command?.type !== 'SimpleCommand' || !isSetting(literalOf(command.name), command.args.map(literalOf))
  })
  return statements.slice(first === -1 ? statements.length : first)
}

/** Whether a command is one that `npm run` and `bash -e` write before a script. */
export function isSetting(name: string, args: readonly string[]): boolean {
  if (name === 'export') return args.length > 0 && args.every((arg) => /^npm_[a-z_]+$/.test(arg))
  return (
    name === 'set' && /^(-[euxfvC]|-o (errexit|nounset|pipefail|xtrace|verbose|noglob|noclobber))$/.test(args.join(' '))
  )
}

function addOperators(node: Node, found: Set<Operator>): void {
  if (node.isImplicit === true) return
  switch (node.type) {
    case 'Statement': {
      const { operators, background } = node as unknown as StatementNode
      for (const operator of operators) found.add(operator)
      if (background) found.add('&')
      break
    }
    case 'Pipeline': {
      const { commands, negated, pipeStderr } = node as unknown as PipelineNode
      for (let i = 1; i < commands.length; i++) found.add(pipeStderr?.[i - 1] === true ? '|&' : '|')
      if (negated) found.add('!')
      break
    }
    case 'Redirection': {
      const { operator, target } = node as unknown as RedirectionNode
      const isDescriptor = operator.endsWith('&') && target.type === 'Word' && /^(\d+-?|-)$/.test(literalOf(target))
      if (!isDescriptor) found.add(operator)
      break
    }
    case 'CommandSubstitution':
      found.add(node.legacy === true ? '`' : '$(')
      break
    case 'ProcessSubstitution':
      found.add(node.direction === 'input' ? '<(' : '>(')
      break
    default: {
      const operator = operatorByType[String(node.type)]
      if (operator !== undefined) found.add(operator)
    }
  }
}

/** Compound commands contain semicolons or the ends of lines. */
const operatorByType: Readonly<Record<string, Operator>> = {
  ...Object.fromEntries(['If', 'For', 'CStyleFor', 'While', 'Until'].map((type) => [type, ';'])),
  Subshell: '(',
  Group: '{',
  ArithmeticCommand: '((',
  ConditionalCommand: '[[',
  ArithmeticExpansion: '$((',
  ArithCommandSubst: '$(',
}

function literalOf(word: WordNode | null): string {
  const [part, ...rest] = word?.parts ?? []
  return part?.type === 'Literal' && rest.length === 0 ? part.value : ''
}
