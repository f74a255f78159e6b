import type { CommandNode, SimpleCommandNode, WordNode } from 'just-bash'
import { literalOf } from './syntax-nodes.ts'
import { BEGIN } from './traps.ts'

/** Streams of a command whose text becomes the end of the line's own output, as it is. */
export interface ShownStreams {
  readonly stdout: boolean
  readonly stderr: boolean
}

export const BOTH: ShownStreams = { stdout: true, stderr: true }
export const NONE: ShownStreams = { stdout: false, stderr: false }

export function both(a: ShownStreams, b: ShownStreams): ShownStreams {
  return { stdout: a.stdout && b.stdout, stderr: a.stderr && b.stderr }
}

type Redirection = SimpleCommandNode['redirections'][number]
type WordPart = WordNode['parts'][number]

const INPUTS: ReadonlySet<string> = new Set(['<', '<<', '<<-', '<<<'])
const FILES: ReadonlySet<string> = new Set(['>', '>>', '>|'])

/** Returns the streams that redirections leave where they are. */
export function streamsAfter(redirections: readonly Redirection[]): ShownStreams {
  let shown = BOTH
  for (const { operator, fd, fdVariable, target } of redirections) {
    if (INPUTS.has(operator) && (fd ?? 0) === 0) continue
    const isFile = FILES.has(operator) && fdVariable === undefined
    // The error output comes after the standard output.
    const isMerged = operator === '>&' && fd === 2 && target.type === 'Word' && literalOf(target) === '1'
    if ((isFile && fd === 2) || isMerged) shown = both(shown, { stdout: true, stderr: false })
    else if (isFile && (fd ?? 1) === 1 && !mayBeStream(target)) shown = both(shown, { stdout: false, stderr: true })
    else return NONE
  }
  return shown
}

/** Whether the target of a redirection may be `/dev/stderr`. */
function mayBeStream(target: Redirection['target']): boolean {
  return target.type !== 'Word' || !/^(?!\/dev\/std)./.test(literalOf(target))
}

/**
 * Returns the streams of a pipeline's command that are streams of the pipeline. The error output of earlier commands comes
 * before that of the last one.
 */
export function streamsInPipeline(commands: readonly CommandNode[], index: number): ShownStreams {
  if (index !== commands.length - 1) return NONE
  return { stdout: true, stderr: commands.slice(0, index).every(isSilent) }
}

/** Whether a command is the one that `trap` adds before a script. */
function isSilent(command: CommandNode): boolean {
  return command.type === 'SimpleCommand' && literalOf(command.name) === BEGIN
}

/** A set of names of commands. */
export type Names = Pick<ReadonlySet<string>, 'has'>

/** Returns the streams of a simple command that are its own output and nothing else, if it is called by its literal name. */
export function streamsOfCall(command: CommandNode | undefined, names: Names): ShownStreams {
  if (command?.type !== 'SimpleCommand' || !names.has(literalOf(command.name))) return NONE
  const { args, assignments, redirections } = command
  const parts = args.flatMap((word) => word.parts)
  if (!parts.every(runsNothingUnseen)) return NONE
  // Error output of expansions comes before that of the command.
  const isPlain = assignments.length === 0 && !parts.some(runsCommands)
  return both(streamsAfter(redirections), { stdout: true, stderr: isPlain })
}

/** Whether everything that the expansion of a part runs is a node of the script. */
function runsNothingUnseen(part: WordPart): boolean {
  switch (part.type) {
    case 'DoubleQuoted':
      return part.parts.every(runsNothingUnseen)
    case 'ParameterExpansion':
      return part.operation === null && /^\w+$|^[@*#?$!-]$/.test(part.parameter)
    case 'Literal':
    case 'SingleQuoted':
    case 'Escaped':
    case 'Glob':
    case 'TildeExpansion':
    case 'CommandSubstitution':
      return true
    default:
      return false
  }
}

function runsCommands(part: WordPart): boolean {
  return part.type === 'CommandSubstitution' || (part.type === 'DoubleQuoted' && part.parts.some(runsCommands))
}

/** Whether a command may make the shell print its commands (`set -x`), which comes before their error output. */
export function mayTrace(command: SimpleCommandNode): boolean {
  return mayRun(command, ['set', 'shopt'], (text) => text.includes('x'))
}

/** Whether a command may redirect the output of all later ones (`exec > FILE`). */
export function mayRedirectAll(command: SimpleCommandNode): boolean {
  return (
    (literalOf(command.name) === 'exec' && command.redirections.length > 0) ||
    mayRun(command, [], (text) => text.includes('exec'))
  )
}

const EVALUATORS: readonly string[] = ['builtin', 'command', 'eval']

/** Whether a command is one of a list, or runs its arguments as one, and has an argument that is unknown or accepted. */
function mayRun(
  { name, args }: SimpleCommandNode,
  names: readonly string[],
  accepts: (text: string) => boolean,
): boolean {
  if (name === null) return false
  const command = literalOf(name)
  if (command !== '' && !names.includes(command) && !EVALUATORS.includes(command)) return false
  return args.some(({ parts }) =>
    parts.some((part) => !('value' in part) || typeof part.value !== 'string' || accepts(part.value)),
  )
}
