import type { Bash, ExecResult, ScriptNode, TransformPlugin } from 'just-bash'
import type { Operator } from '../../policy/command-operators.ts'
import { rewriteSyntax } from './bash-syntax.ts'
import { type ExitErrorClass, endAsBash } from './command-errors.ts'
import { ignoreAsBash, keepConditionOutput } from './conditions.ts'
import type { LiveOutput } from './live-output.ts'
import { isMissing, withHint } from './missing-commands.ts'
import { withPersonInput } from './person-input.ts'
import { isSetting, operatorsOf } from './script-operators.ts'

/** A command that starts, as the interpreter has expanded it. */
export interface CommandStart {
  readonly words: readonly string[]
  readonly isFunction: boolean
  /** A path of the tree that commands see. */
  readonly cwd: string
  /** Another command starts it, such as a shell or xargs, and not the line or a file that it sources. */
  readonly isNested: boolean
}

/** Decides about everything that a line starts. Returns the reason of a refusal. */
export interface StartJudge {
  refusal(command: CommandStart): Promise<string | undefined> | string | undefined
  /** Absent if no operator is denied. */
  readonly refusalOfOperators?:
    | ((operators: readonly Operator[]) => Promise<string | undefined> | string | undefined)
    | undefined
}

type RunCommand = (name: string, args: string[], ...rest: readonly unknown[]) => Promise<ExecResult>

/** The parts of just-bash's class of interpreters that are used here. */
interface InterpreterInstance {
  readonly ctx: {
    /** The registry of the shell. */
    readonly commands: ReadonlyMap<string, unknown>
    readonly state: { readonly cwd: string; readonly functions: ReadonlyMap<string, unknown>; groupStdin?: string }
  }
  runCommand: RunCommand
  executeScript(script: ScriptNode): Promise<ExecResult>
}

/** The judges of the shells that run, by the registries of their commands. */
const judges = new WeakMap<object, StartJudge>()

/** What follows the output of the shells that run, by the registries of their commands. */
const lives = new WeakMap<object, LiveOutput>()

/** The interpreter of the line, by the registry of its shell. Every command that starts others has one of its own. */
const lineInterpreters = new WeakMap<object, InterpreterInstance>()

/** The operators of scripts to which statements were added after they were parsed. */
const writtenOperators = new WeakMap<ScriptNode, readonly Operator[]>()

/** Prototypes that are hooked. */
const hooked = new WeakSet<object>()

/**
 * Makes a judge decide about every command of a shell, whose plugins are registered by `registerPlugins`. The class of the
 * interpreter has to be hooked.
 */
export function judgeStarts(shell: Bash, judge: StartJudge | undefined, registerPlugins: () => void): void {
  if (judge?.refusalOfOperators === undefined) registerPlugins()
  else {
    let operators: readonly Operator[] = []
    const plugin = (name: string, see: (script: ScriptNode) => void): TransformPlugin => ({
      name,
      transform({ ast }) {
        see(ast as ScriptNode)
        return { ast: ast as ScriptNode }
      },
    })
    shell.registerTransformPlugin(plugin('written', (script) => (operators = operatorsOf(script))))
    registerPlugins()
    shell.registerTransformPlugin(plugin('transformed', (script) => writtenOperators.set(script, operators)))
  }
  if (judge !== undefined) judges.set((shell as unknown as InterpreterInstance['ctx']).commands, judge)
}

/** Makes the scripts of a shell show their output while they run. The class of the interpreter has to be hooked. */
export function followScripts(shell: Bash, live: LiveOutput): void {
  shell.registerTransformPlugin(live.plugin)
  lives.set((shell as unknown as InterpreterInstance['ctx']).commands, live)
}

/**
 * Lets judges decide about commands where the interpreter looks up their names, whichever way they are started, and adds hints for
 * missing commands. Errors and `exec` end what they end in bash. Returns whether the class of the interpreter was found.
 *
 * @param ExitError just-bash's error that ends a script
 * @param runScript starts a script, up to the first wait of the interpreter
 */
export function hookInterpreter(ExitError: ExitErrorClass, runScript: () => void): boolean {
  const prototype = interpreterPrototype(runScript)
  if (prototype === undefined || !Object.hasOwn(prototype, 'runCommand')) return false
  if (hooked.has(prototype)) return true
  hooked.add(prototype)
  endAsBash(prototype, ExitError)
  ignoreAsBash(prototype)
  keepConditionOutput(prototype)
  const { runCommand, executeScript } = prototype
  prototype.runCommand = async function (name, args, ...rest) {
    const judge = judges.get(this.ctx.commands)
    if (judge !== undefined && !isOwn(name, args)) {
      const { cwd, functions } = this.ctx.state
      const [, , skipsFunctions] = rest
      const isFunction = skipsFunctions !== true && functions.has(name)
      const isNested = lineInterpreters.get(this.ctx.commands) !== this
      const reason = await judge.refusal({ words: [name, ...args], isFunction, cwd, isNested })
      if (reason !== undefined) return refused(`${name}: not allowed: ${reason}`)
    }
    const result = withHint(
      name,
      await withPersonInput(this.ctx, [name, ...args], rest, (more) => runCommand.call(this, name, args, ...more)),
    )
    return name === 'help' && args.length === 0 ? withPrograms(result, this.ctx.commands) : result
  }
  prototype.executeScript = async function (script) {
    const judge = judges.get(this.ctx.commands)
    if (judge !== undefined && !lineInterpreters.has(this.ctx.commands)) lineInterpreters.set(this.ctx.commands, this)
    const reason = await judge?.refusalOfOperators?.(writtenOperators.get(script) ?? operatorsOf(script))
    rewriteSyntax(script)
    lives.get(this.ctx.commands)?.watch(script)
    if (reason === undefined) return executeScript.call(this, script)
    const result = await executeScript.call(this, { ...script, statements: [] })
    return { ...result, ...refused(`not allowed: ${reason}`) }
  }
  return true
}

const PROGRAMS = '\nPrograms\n'

/** Lists what runs: of the built-ins that `help` prints below its heading, and of the programs. */
function withPrograms(result: ExecResult, commands: InterpreterInstance['ctx']['commands']): ExecResult {
  // Another copy of this module may have hooked the same interpreter.
  if (result.stdout.includes(PROGRAMS)) return result
  const [, list = ''] = result.stdout.split('\n\n')
  const listOf = (names: Iterable<string>) =>
    [...names].filter((name) => /^(\w[\w.+-]*|[.:[])$/.test(name) && !isMissing(name)).sort()
  const builtins = listOf(list.split(/\s+/))
  const programs = listOf(commands.keys()).filter((name) => !builtins.includes(name))
  return { ...result, stdout: `Commands of the shell\n${inLines(builtins)}${PROGRAMS}${inLines(programs)}` }
}

/** Joins names in lines that fit into a terminal. */
function inLines(names: readonly string[]): string {
  return names.join(' ').replaceAll(/(.{1,60})(?: |$)/g, '$1\n')
}

function refused(reason: string): ExecResult {
  return { stdout: '', stderr: `bash: ${reason}\n`, exitCode: 126 }
}

/** Returns the prototype of the interpreter that a function makes before it returns. */
function interpreterPrototype(run: () => void): InterpreterInstance | undefined {
  const { bind } = Function.prototype
  let prototype: InterpreterInstance | undefined
  try {
    // just-bash does not export the class, but its constructor binds methods of the instance.
    Function.prototype.bind = function (this: () => unknown, self: unknown, ...args: unknown[]) {
      const { runCommand, executeScript } = (self ?? {}) as Partial<InterpreterInstance>
      if (typeof runCommand === 'function' && typeof executeScript === 'function') {
        prototype = Object.getPrototypeOf(self) as InterpreterInstance
      }
      return Reflect.apply(bind, this, [self, ...args]) as unknown
    } as typeof bind
    run()
  } catch {
    // A platform may have frozen its functions.
  } finally {
    if (Function.prototype.bind !== bind) Function.prototype.bind = bind
  }
  return prototype
}

/** Whether a command is one that this shell or its interpreter adds to a script. None has an effect outside of the shell. */
function isOwn(name: string, args: readonly string[]): boolean {
  if (name === 'shopt') return args.length === 2 && /^-[su]$/.test(args[0] ?? '') && args[1] === 'lastpipe'
  return isSetting(name, args) || /^(__just_bash_tee_restore|trap:(begin|record|status))$/.test(name)
}
