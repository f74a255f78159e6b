import type { CommandNode, ScriptNode, SimpleCommandNode, StatementNode, TransformPlugin } from 'just-bash'
import type { OutputStream } from '../shared/shown-output.ts'
import {
  BOTH,
  both,
  mayRedirectAll,
  mayTrace,
  type Names,
  NONE,
  type ShownStreams,
  streamsAfter,
  streamsInPipeline,
  streamsOfCall,
} from './shown-streams.ts'
import type { StatementOutput } from './statement-output.ts'
import { literalOf, nodesOf } from './syntax-nodes.ts'
import { effectOfDecoding } from './text-decoding.ts'

/** Called with each piece of the output of a line, in order. */
export type OutputListener = (stream: OutputStream, text: string) => void

/** Passes the output of a line on while the line runs. */
export interface LiveOutput {
  /** Follows the statements of the line. Register it after all others. */
  readonly plugin: TransformPlugin
  /** Follows the statements of a script that the line runs without the plugins of the shell, as `source` does. */
  watch(script: ScriptNode): void
  /** Returns a function that passes output of a running command on, or `undefined` if the line does not show it. */
  writerFor(command: string): OutputListener | undefined
}

/** Follows a line if somebody listens and the interpreter allows it. */
export function lineOutput(
  { statementOutput }: { readonly statementOutput?: StatementOutput | undefined },
  listener: OutputListener | undefined,
): LiveOutput | undefined {
  return statementOutput && listener && new StatementWatcher(statementOutput, listener)
}

/** Where the statements of a list are in the script. */
type Place =
  | { readonly of: 'script' | 'substitution' }
  | { readonly of: 'command'; readonly shown: ShownStreams }
  | { readonly of: 'function'; readonly names: ReadonlySet<string>; readonly shown: ShownStreams }

interface RunningCommand {
  readonly command: CommandNode
  readonly shown: ShownStreams
}

/** A list of statements that runs. */
interface Frame {
  readonly shown: ShownStreams
  /** Whether the list is a script, whose output the interpreter decodes at its end. */
  readonly isScript: boolean
  /** Streams of a script that its end leaves as they are. */
  readonly decided: Set<OutputStream>
  /** Streams of a script that its end may change. The rest of them is shown then. */
  readonly held: Set<OutputStream>
  statement?: StatementNode
  /** The command that runs, and its streams that are streams of its pipeline. */
  running?: RunningCommand | undefined
  /** Number of characters that were shown before the pipeline, and before the statement. */
  before: Readonly<Record<OutputStream, number>>
  start: Frame['before']
}

const scriptNames: ReadonlySet<string> = new Set(['bash', 'sh', 'npm', 'xargs', 'source', '.', 'eval'])

/** Commands that pass the output of the script that they run on as it is. The path of a file runs a script. */
const SCRIPT_COMMANDS: Names = { has: (name) => scriptNames.has(name) || name.includes('/') }

/** Maximum number of characters of a stream that are shown before the end. */
const MAX_LIVE = 4 * 1024 * 1024

const STREAMS = ['stdout', 'stderr'] as const

/**
 * Shows the output of each pipeline when it has ended, if it will be the next part of the line's output: not in a substitution, not
 * before a pipe and not redirected. The interpreter returns output from each node to the one above, so the lists of statements report
 * here what runs, and each level shows only what the levels below have not shown.
 */
class StatementWatcher implements LiveOutput {
  readonly #statementOutput: StatementOutput
  readonly #listener: OutputListener
  readonly #frames: Frame[] = []
  readonly #places = new WeakMap<readonly StatementNode[], Place>()
  readonly #watched = new WeakSet<StatementNode>()
  readonly #shownLength = { stdout: 0, stderr: 0 }
  /**
   * Depth of lists that show nothing: an error has carried output out of a list at this depth, which comes before that of later
   * statements. The list above shows both.
   */
  #gap = Number.POSITIVE_INFINITY
  /** Streams of calls that stay as they are. */
  #ofCalls = BOTH

  constructor(statementOutput: StatementOutput, listener: OutputListener) {
    this.#statementOutput = statementOutput
    this.#listener = listener
  }

  readonly plugin: TransformPlugin = {
    name: 'live-output',
    transform: ({ ast }) => {
      this.#watchScript(ast as ScriptNode)
      return { ast: ast as ScriptNode }
    },
  }

  watch(script: ScriptNode): void {
    if (!this.#places.has(script.statements)) this.#watchScript(script)
  }

  #watchScript(script: ScriptNode): void {
    const calls = nodesOf(script).filter(({ type }) => type === 'SimpleCommand') as unknown as SimpleCommandNode[]
    if (calls.some(mayTrace)) this.#ofCalls = both(this.#ofCalls, { stdout: true, stderr: false })
    if (calls.some(mayRedirectAll)) this.#ofCalls = NONE
    this.#watchList(script.statements, { of: 'script' })
  }

  writerFor(command: string): OutputListener | undefined {
    const shown = this.#streamsOf(new Set([command]))
    if (!shown.stdout && !shown.stderr) return undefined
    return (stream, text) => {
      if (shown[stream]) this.#show(stream, text)
    }
  }

  #show(stream: OutputStream, text: string): void {
    if (text === '' || this.#frames.length > this.#gap) return
    for (const frame of this.#frames) if (frame.isScript && this.#isHeld(frame, stream, text)) return
    this.#shownLength[stream] += text.length
    this.#listener(stream, text)
  }

  #isHeld({ decided, held }: Frame, stream: OutputStream, text: string): boolean {
    const effect = effectOfDecoding(text)
    if (effect === 'never') decided.add(stream)
    const isTooLong = this.#shownLength[stream] + text.length > MAX_LIVE
    if (isTooLong || (effect === 'possible' && !decided.has(stream))) held.add(stream)
    return held.has(stream)
  }

  /** Returns the streams of the command that runs, if it is a call of a name. */
  #streamsOf(names: Names): ShownStreams {
    const { shown, running } = this.#frames.at(-1) ?? {}
    if (shown === undefined || running === undefined) return NONE
    return [running.shown, streamsOfCall(running.command, names), this.#ofCalls].reduce(both, shown)
  }

  #open(place: Place): Frame {
    const top = this.#frames.at(-1)
    const isScript = place.of === 'script'
    const before = { ...this.#shownLength }
    let shown = NONE
    if (isScript) shown = top === undefined ? BOTH : this.#streamsOf(SCRIPT_COMMANDS)
    else if (place.of === 'function') shown = both(this.#streamsOf(place.names), place.shown)
    else if (place.of === 'command') shown = both(top?.shown ?? NONE, place.shown)
    return { shown, isScript, decided: new Set(), held: new Set(), before, start: before }
  }

  /** Makes a list report what runs to this object. Its place is the last one that is set. */
  #watchList(list: StatementNode[], place: Place): void {
    const isWatched = this.#places.has(list)
    this.#places.set(list, place)
    if (isWatched) return
    const iterate = list[Symbol.iterator]
    const value = () => this.#runList(() => iterate.call(list), this.#places.get(list) ?? place)
    Object.defineProperty(list, Symbol.iterator, { value })
  }

  *#runList(iterate: () => Iterator<StatementNode>, place: Place): Generator<StatementNode> {
    const frame = this.#open(place)
    const depth = this.#frames.push(frame) - 1
    try {
      for (const statement of { [Symbol.iterator]: iterate }) {
        this.#begin(frame, statement)
        yield statement
        // An error has ended the statement, and the script goes on.
        if (frame.running !== undefined) this.#showEnded(frame, frame.start)
      }
      frame.running = undefined
    } finally {
      this.#frames.length = depth
      if (mayLeaveOutput(frame.running)) this.#gap = Math.min(this.#gap, depth)
    }
  }

  #begin(frame: Frame, statement: StatementNode): void {
    this.#statementOutput.clear()
    frame.statement = statement
    frame.running = undefined
    frame.before = { ...this.#shownLength }
    frame.start = frame.before
    const isShown = frame.shown.stdout || frame.shown.stderr
    if (!isShown || this.#watched.has(statement)) return
    this.#watched.add(statement)
    this.#watchStatement(statement)
  }

  /** The interpreter reads `pipelines` after each of them, when it has added the output. */
  #watchStatement(statement: StatementNode): void {
    const { pipelines } = statement
    for (const { commands } of pipelines) {
      const shown = commands.map((_, index) => streamsInPipeline(commands, index))
      for (const [index, command] of commands.entries()) this.#watchCommand(command, shown[index] ?? NONE)
      onElement(commands, (index, command) =>
        this.#onTop(statement, (frame) => {
          frame.running = { command, shown: shown[index] ?? NONE }
        }),
      )
    }
    Object.defineProperty(statement, 'pipelines', {
      enumerable: true,
      get: () => {
        this.#onTop(statement, (frame) => this.#showEnded(frame, frame.before))
        return pipelines
      },
    })
  }

  #onTop(statement: StatementNode, run: (frame: Frame) => void): void {
    const top = this.#frames.at(-1)
    if (top?.statement === statement) run(top)
  }

  /** Shows the output that the interpreter has added. `before`: what was shown before that output. */
  #showEnded(frame: Frame, before: Frame['before']): void {
    if (this.#frames.length <= this.#gap) this.#gap = Number.POSITIVE_INFINITY
    for (const stream of STREAMS) {
      const text = this.#statementOutput.take(stream)
      if (text !== undefined && frame.shown[stream])
        this.#show(stream, text.slice(this.#shownLength[stream] - before[stream]))
    }
    frame.before = { ...this.#shownLength }
    frame.running = undefined
  }

  #watchCommand(command: CommandNode, inPipeline: ShownStreams): void {
    const { lists, scripts } = partsOf(command.type === 'FunctionDef' ? command.body : command)
    for (const { statements } of scripts) this.#watchList(statements, { of: 'substitution' })
    const place = command.type === 'FunctionDef' ? placeInFunction(command) : placeIn(command, inPipeline)
    for (const list of lists) this.#watchList(list, place)
  }
}

function placeInFunction({ name, body, redirections }: Extract<CommandNode, { type: 'FunctionDef' }>): Place {
  const shown = both(streamsAfter(redirections), streamsAfter(body.redirections))
  return { of: 'function', names: new Set([name]), shown }
}

function placeIn(command: CommandNode, inPipeline: ShownStreams): Place {
  return { of: 'command', shown: both(inPipeline, streamsAfter(command.redirections)) }
}

/** Commands that end a list and print nothing. */
const LEAVERS: ReadonlySet<string> = new Set(['break', 'continue', 'exit', 'return'])

/** Whether a command that an error has ended may have printed what is not shown. */
function mayLeaveOutput(running: RunningCommand | undefined): boolean {
  if (running === undefined) return false
  const { command, shown } = running
  if (command.type === 'SimpleCommand' && LEAVERS.has(literalOf(command.name))) return false
  const { stdout, stderr } = both(shown, streamsAfter(command.redirections))
  return command.type === 'SimpleCommand' || !stdout || !stderr
}

/** Returns the lists of statements that a command runs itself, and the scripts of its substitutions. */
function partsOf(command: CommandNode): { readonly lists: StatementNode[][]; readonly scripts: ScriptNode[] } {
  const lists: StatementNode[][] = []
  const scripts: ScriptNode[] = []
  const pending: object[] = [command]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (Array.isArray(node) && isType(node[0], 'Statement')) lists.push(node as StatementNode[])
    else if (isType(node, 'Script')) scripts.push(node as ScriptNode)
    else pending.push(...Object.values(node).filter((value) => typeof value === 'object' && value !== null))
  }
  return { lists, scripts }
}

function isType(node: unknown, type: string): boolean {
  return (node as { readonly type?: unknown } | undefined)?.type === type
}

/** Calls a function whenever the interpreter reads an element of a list. */
function onElement<T>(list: T[], onRead: (index: number, element: T) => void): void {
  for (const [index, element] of list.entries()) {
    Object.defineProperty(list, index, {
      enumerable: true,
      configurable: true,
      get() {
        onRead(index, element)
        return element
      },
    })
  }
}
