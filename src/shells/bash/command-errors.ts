import type { CommandNode, ExecResult, IFileSystem } from 'just-bash'
import { withOwnTexts } from './own-texts.ts'
import { withReasons } from './refusal-texts.ts'
import { literalOf } from './syntax-nodes.ts'

/** just-bash's error that ends a script with an exit code, and keeps its output until then. */
export type ExitErrorClass = new (exitCode: number, stdout: string, stderr: string) => Error

/** The parts of the interpreter's state that are used here. */
interface ShellState {
  readonly env: Map<string, string>
  readonly cwd: string
  readonly options: { readonly nounset: boolean }
  /** Differs from `virtualPid` in a subshell. */
  readonly bashPid: number
  readonly virtualPid: number
}

/** The parts of just-bash's class of interpreters that are used here. */
interface CommandInterpreter {
  readonly ctx: { readonly state: ShellState; readonly fs: IFileSystem }
  executeCommand(node: CommandNode, ...rest: readonly unknown[]): Promise<ExecResult>
  runCommand(name: string, args: string[], ...rest: readonly unknown[]): Promise<ExecResult>
}

/** An error of the interpreter, with the output until then. */
interface ScriptError {
  readonly name?: string
  readonly stdout: string
  readonly stderr: string
}

/** Errors that end a script in bash. just-bash lets some lists, conditions and loops go on after them. */
const ENDING: ReadonlySet<string | undefined> = new Set(['NounsetError', 'BadSubstitutionError'])

/** How `[[` and `((` report an unset variable under `set -u`. */
const UNSET = /^bash: (?:conditional|arithmetic) expression: (.+: unbound variable\n)$/

/** Errors that report a redirection whose file cannot be opened. */
const unopened = new WeakSet<object>()

/** Marks an error as that of a redirection whose file cannot be opened. Only the command with the redirection fails. */
export function failsCommand<T extends Error>(error: T): T {
  unopened.add(error)
  return error
}

/** Makes errors of commands, and `exec` with a command, end what they end in bash. */
export function endAsBash(prototype: object, ExitError: ExitErrorClass): void {
  const interpreter = prototype as CommandInterpreter
  const { executeCommand, runCommand } = interpreter
  /** Shells that `exec` has replaced by a command. */
  const replaced = new WeakSet<ShellState>()
  interpreter.runCommand = async function (name, args, ...rest) {
    if (name === 'exec' && args.length > 0) replaced.add(this.ctx.state)
    const result = await withReasons(this.ctx, () => runCommand.call(this, name, args, ...rest))
    return result.stderr.includes(': Parse error at ') ? withOwnTexts(result) : result
  }
  interpreter.executeCommand = async function (node, ...rest) {
    const { state } = this.ctx
    const isExec = node.type === 'SimpleCommand' && literalOf(node.name) === 'exec'
    if (isExec) replaced.delete(state)
    const restore = savedVariables(node, state.env)
    const end = (exitCode: number, { stdout, stderr }: ScriptError | ExecResult, from: object): never => {
      const { internalOutputAccounting } = from as { internalOutputAccounting?: object }
      throw Object.assign(
        new ExitError(exitCode, stdout, stderr),
        internalOutputAccounting && { internalOutputAccounting },
      )
    }
    let result: ExecResult
    try {
      result = await withReasons(this.ctx, () => executeCommand.call(this, node, ...rest))
    } catch (error) {
      const { name, stdout, stderr } = error as ScriptError
      if (unopened.has(error as object)) {
        restore()
        return { stdout, stderr, exitCode: 1 }
      }
      // Lists and loops print the message, and a script what the error has as its error output.
      if (name === 'ArithmeticError') (error as Error).message = stderr.trimEnd()
      if (!ENDING.has(name)) throw error
      return end(name === 'NounsetError' ? codeOfUnset(state) : 1, { stdout, stderr }, error as object)
    }
    if (isExec && replaced.has(state)) end(result.exitCode, result, result)
    if (state.options.nounset && (node.type === 'ConditionalCommand' || node.type === 'ArithmeticCommand')) {
      const [, message] = UNSET.exec(result.stderr) ?? []
      if (message !== undefined) end(codeOfUnset(state), { stdout: '', stderr: `bash: ${message}` }, {})
    }
    return result
  }
}

/** An unset variable ends a line or the text after `bash -c` with 127, and a script file or a subshell with 1. */
function codeOfUnset({ env, bashPid, virtualPid }: ShellState): number {
  return bashPid === virtualPid && /^(ba)?sh$/.test(env.get('0') ?? 'bash') ? 127 : 1
}

/** Returns a function that restores the variables that a command sets for itself only, such as `A=1 ls`. */
function savedVariables(node: CommandNode, env: Map<string, string>): () => void {
  const names = node.type === 'SimpleCommand' && node.name !== null ? node.assignments.map(({ name }) => name) : []
  const values = names.map((name) => [name, env.get(name)] as const)
  return () => {
    for (const [name, value] of values) {
      if (value === undefined) env.delete(name)
      else env.set(name, value)
    }
  }
}
