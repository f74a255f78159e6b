import type { Command, ExecResult } from 'just-bash'

/** Where a command is called. */
export interface CalledAt {
  readonly cwd: string
  /** One unit per byte. */
  readonly stdin: string
}

/** A command of our own, which is carried out where the files are. */
export interface CustomCommand {
  readonly name: string
  /** `undefined` where it is left to the interpreter's own command of that name. */
  attempt(args: readonly string[], at: CalledAt): Promise<ExecResult | undefined>
  readonly command: Command
}

export function ownCommand(name: string, attempt: CustomCommand['attempt']): CustomCommand {
  return {
    name,
    attempt,
    command: {
      name,
      async execute(args, { cwd, stdin, origCommand }) {
        const own = await attempt(args, { cwd, stdin: String(stdin) })
        return own ?? (await origCommand?.(args)) ?? { stdout: '', stderr: `${name}: not here\n`, exitCode: 2 }
      },
    },
  }
}
