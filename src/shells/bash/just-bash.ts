import type { IFileSystem } from 'just-bash'
import { loadPart } from '../../util/load-part.ts'
import { memoizeAsync } from '../../util/memoize-async.ts'
import { type ExitErrorClass, failsCommand } from './command-errors.ts'
import { hookInterpreter } from './command-hooks.ts'
import { followStatementOutput, type StatementOutput } from './statement-output.ts'

type JustBash = typeof import('./packages/just-bash.ts')

/** just-bash, with what the package does not export. */
export interface Interpreter extends JustBash {
  /** Makes an error of a redirection whose file cannot be opened. Its command fails with exit code 1, and the script goes on. */
  readonly ends: (message: string) => Error
  /** Whether a judge can decide about the commands of a shell when they start. */
  readonly judgesStarts: boolean
  /** Follows the output of statements, if the package allows it. */
  readonly statementOutput?: StatementOutput | undefined
}

/**
 * Loads just-bash, once. The built package contains it.
 *
 * @throws ToolError `SHELL_UNAVAILABLE`
 */
export const loadInterpreter = memoizeAsync(async () =>
  interpreterOf(await loadPart('bash()', () => import('./packages/just-bash.ts'))),
)

/** Adds to the package what it does not export. */
export async function interpreterOf(package_: JustBash): Promise<Interpreter> {
  const ExitError = await exitErrorOf(package_)
  const { Bash } = package_
  const shell = new Bash({ fs: emptyFs, cwd: '/', defenseInDepth: false })
  const judgesStarts = hookInterpreter(ExitError, () => void shell.exec(':'))
  const statementOutput = await followStatementOutput(shell)
  return { ...package_, ends: (message) => failsCommand(new ExitError(1, '', message)), judgesStarts, statementOutput }
}

/**
 * Returns just-bash's class of errors that end a script. just-bash does not export it, but a wrong assignment throws one.
 * With any other error, a refused redirection would discard the output of the whole script.
 */
async function exitErrorOf({ Bash, defineCommand }: JustBash): Promise<ExitErrorClass> {
  let ExitError: ExitErrorClass | undefined
  const probe = defineCommand('probe', async (_args, { assignShellVariable }) => {
    try {
      await assignShellVariable?.('probe', '', '1/0')
    } catch (error) {
      const { name, exitCode, constructor: errorClass } = error as Error & { exitCode?: number }
      if (name === 'ExitError' && exitCode !== undefined) ExitError = errorClass as ExitErrorClass
    }
    return { stdout: '', stderr: '', exitCode: 0 }
  })
  const bash = new Bash({ customCommands: [probe], fs: emptyFs, cwd: '/', defenseInDepth: false })
  await bash.exec('probe').catch(() => {})
  return ExitError ?? PlainError
}

const PlainError = class extends Error {
  constructor(_exitCode: number, _stdout: string, stderr: string) {
    super(stderr)
  }
} as ExitErrorClass

/** A file system without files. */
const emptyFs = new Proxy({} as IFileSystem, { get: () => async () => false })
