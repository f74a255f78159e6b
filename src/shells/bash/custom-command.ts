import type { Command, ExecResult } from 'just-bash'

/** The directory and input of a called command. */
export interface CommandContext {
  readonly cwd: string
  /** One character per byte. */
  readonly stdin: string
  /** The exported variables. */
  readonly env: Readonly<Record<string, string>>
}

/** A command of our own, which runs in the thread that has the files. */
export interface CustomCommand {
  readonly name: string
  /** Returns `undefined` to leave the call to the interpreter's own command of that name. */
  attempt(args: readonly string[], context: CommandContext): Promise<ExecResult | undefined>
  readonly command: Command
}

export function customCommand(name: string, attempt: CustomCommand['attempt']): CustomCommand {
  return {
    name,
    attempt,
    command: {
      name,
      async execute(args, { cwd, stdin, exportedEnv = {}, origCommand }) {
        const result = await attempt(args, { cwd, stdin: String(stdin), env: exportedEnv })
        return result ?? (await origCommand?.(args)) ?? { stdout: '', stderr: `${name}: not here\n`, exitCode: 2 }
      },
    },
  }
}
