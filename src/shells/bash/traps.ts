import type {
  Bash,
  Command,
  CommandNode,
  PipelineNode,
  ScriptNode,
  SimpleCommandNode,
  StatementNode,
  TransformPlugin,
  WordNode,
} from 'just-bash'
import { calledName, callersOf, calls, implicitSubshell, nodesOf, type SyntaxNode } from './syntax-nodes.ts'
import { type TrapFrame, trapCommand } from './trap-command.ts'

/** Passes its input on to the script, and records `$0`. */
export const BEGIN = 'trap:begin'
/** Records the exit code of the script. */
const RECORD = 'trap:record'
/** Returns an exit code. */
const STATUS = 'trap:status'

/** Commands after which a script may set a trap that its text does not show. */
const EVALUATORS: readonly string[] = ['.', 'eval', 'source']

/**
 * Gives a shell the command `trap`. The action on EXIT runs in the shell that set it, also after `exit` and after a failure
 * under `set -e`. For this, the statements of a script become
 * `shopt -s lastpipe; trap:begin | { shopt -u lastpipe; SCRIPT; } || trap:record "$?"; ACTION; trap:status CODE`.
 * The pipeline ends what leaves the script, and `lastpipe` keeps its variables, functions and directory.
 */
export function trapsOf(shell: Pick<Bash, 'transform'>): { commands: readonly Command[]; plugin: TransformPlugin } {
  const frames: TrapFrame[] = []
  let isAction = false

  const guard: Guard = (statements, isSubshell) => {
    const body = [simpleStatement('shopt', '-u', 'lastpipe'), ...statements]
    const start = [
      simpleStatement('shopt', '-s', 'lastpipe'),
      statement(
        [[simpleCommand(BEGIN), { type: 'Group', body, redirections: [] }], [simpleCommand(RECORD, exitCodeWord)]],
        '||',
      ),
    ]
    return withIterator(statements, function* () {
      const frame: TrapFrame = { actions: new Map(), status: 0, isRunningAction: false }
      if (isSubshell) frame.inherited = frames.at(-1)?.actions
      frames.push(frame)
      try {
        yield* start
        frame.isRunningAction = true
        const action = frame.actions.get('EXIT')
        if (action !== undefined && action !== '') yield* actionStatements(action, frame.status)
        yield simpleStatement(STATUS, String(frame.status))
      } finally {
        frames.pop()
      }
    })
  }

  const actionStatements = (action: string, status: number): StatementNode[] => {
    isAction = true
    try {
      const { statements } = shell.transform(action).ast
      const group: CommandNode = { type: 'Group', body: statements, redirections: [] }
      // The first command of the action sees the exit code of the script.
      return [status === 0 ? statement([[group]]) : statement([[simpleCommand(STATUS, `${status}`)], [group]], '||')]
    } catch {
      // The message about the wrong syntax is that of eval.
      return [simpleStatement('eval', action)]
    } finally {
      isAction = false
    }
  }

  return {
    commands: trapCommands(frames),
    plugin: {
      name: 'traps',
      transform({ ast }) {
        const script = ast as ScriptNode
        const nodes = nodesOf(script)
        const setters = callersOf(nodes, new Set(['trap']))
        const isGuarded = !isAction && calls(nodes, new Set([...setters, ...EVALUATORS]))
        if (isAction || isGuarded) completeExits(nodes, frames)
        if (!isGuarded) return { ast: script }
        for (const node of nodes) guardSubshells(node, setters, guard)
        return { ast: { ...script, statements: guard(script.statements, false) } }
      },
    },
  }
}

function trapCommands(frames: readonly TrapFrame[]): Command[] {
  return [
    { name: 'trap', execute: async (args, { env }) => trapCommand(args, frames.at(-1), env.get('0')) },
    {
      name: BEGIN,
      async execute(_args, { stdin, env }) {
        const frame = frames.at(-1)
        if (frame !== undefined) frame.scriptName = env.get('0')
        return { stdout: String(stdin), stderr: '', exitCode: 0, stdoutKind: 'bytes' }
      },
    },
    {
      name: RECORD,
      async execute([status]) {
        const frame = frames.at(-1)
        if (frame !== undefined) frame.status = Number(status)
        return { stdout: '', stderr: '', exitCode: 0 }
      },
    },
    { name: STATUS, execute: async ([status]) => ({ stdout: '', stderr: '', exitCode: Number(status) }) },
  ]
}

/** Gives subshells that set a trap an end of their own. */
function guardSubshells(node: SyntaxNode, setters: ReadonlySet<string>, guard: Guard): void {
  const { type } = node
  if (type === 'Pipeline') {
    const { commands } = node as unknown as PipelineNode
    if (commands.length === 1) return
    for (const [index, command] of commands.entries()) {
      if (command.type === 'Subshell' || !calls(nodesOf(command), setters)) continue
      commands[index] = implicitSubshell(guard([statement([[command]])], true))
    }
  } else if (type === 'Subshell' && calls(nodesOf(node), setters)) {
    const subshell = node as { body: StatementNode[] }
    subshell.body = guard(subshell.body, true)
  } else if (type === 'CommandSubstitution' && calls(nodesOf(node), setters)) {
    const script = node.body as ScriptNode
    script.statements = guard(script.statements, true)
  }
}

/** Returns the statements with the end of a script around them. */
type Guard = (statements: readonly StatementNode[], isSubshell: boolean) => StatementNode[]

/** `exit` without a code, in an action, ends with the exit code of the script and not with that of the last command. */
function completeExits(nodes: readonly SyntaxNode[], frames: readonly TrapFrame[]): void {
  for (const node of nodes) {
    if (calledName(node) !== 'exit') continue
    const { args } = node as unknown as SimpleCommandNode
    if (args.length > 0) continue
    Object.defineProperty(node, 'args', {
      enumerable: true,
      get() {
        const frame = frames.at(-1)
        return frame?.isRunningAction === true ? [literalWord(String(frame.status))] : args
      },
    })
  }
}

/** Returns the same statements, which run as those that the generator yields. */
function withIterator(statements: readonly StatementNode[], run: () => Generator<StatementNode>): StatementNode[] {
  return Object.defineProperty([...statements], Symbol.iterator, { value: run, configurable: true })
}

function statement(
  pipelines: readonly (readonly CommandNode[])[],
  ...operators: StatementNode['operators']
): StatementNode {
  const nodes = pipelines.map<PipelineNode>((commands) => ({
    type: 'Pipeline',
    commands: [...commands],
    negated: false,
  }))
  return Object.assign(
    { type: 'Statement' as const, pipelines: nodes, operators, background: false },
    { isImplicit: true },
  )
}

function simpleCommand(name: string, ...args: readonly (string | WordNode)[]): SimpleCommandNode {
  const words = args.map((arg) => (typeof arg === 'string' ? literalWord(arg) : arg))
  const literal: WordNode = { type: 'Word', parts: [{ type: 'Literal', value: name }] }
  return { type: 'SimpleCommand', assignments: [], name: literal, args: words, redirections: [] }
}

function simpleStatement(name: string, ...args: readonly string[]): StatementNode {
  return statement([[simpleCommand(name, ...args)]])
}

function literalWord(value: string): WordNode {
  return { type: 'Word', parts: [{ type: 'SingleQuoted', value }] }
}

/** `"$?"` */
const exitCodeWord: WordNode = {
  type: 'Word',
  parts: [{ type: 'DoubleQuoted', parts: [{ type: 'ParameterExpansion', parameter: '?', operation: null }] }],
}
