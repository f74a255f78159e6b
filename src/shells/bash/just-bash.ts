import type { IFileSystem } from 'just-bash'
import { memoizeAsync } from '../../util/memoize-async.ts'
import { optionalPackage } from '../../util/optional-package.ts'

type JustBash = typeof import('just-bash')

/** just-bash, with what of it the package itself does not give. */
export interface Interpreter extends JustBash {
  /** An error that ends a script with exit code 1 and keeps what it has said until then. */
  readonly ends: (message: string) => Error
}

/**
 * Loads just-bash, once. It is an optional package of whoever embeds this.
 *
 * @throws ToolError `SHELL_UNAVAILABLE`
 */
export const loadInterpreter = memoizeAsync(async () =>
  interpreterOf(await optionalPackage('just-bash', 'bash()', () => import('just-bash'))),
)

/** The package with what it does not give itself. */
export async function interpreterOf(package_: JustBash): Promise<Interpreter> {
  const ExitError = await exitErrorOf(package_)
  return { ...package_, ends: (message) => new ExitError(1, '', message) }
}

type ExitErrorClass = new (exitCode: number, stdout: string, stderr: string) => Error

/**
 * The interpreter's own class of errors that end a script, which it does not export: a wrong assignment throws one. With
 * any other error, a refused redirection would take the output of all the script with it.
 */
async function exitErrorOf({ Bash, defineCommand }: JustBash): Promise<ExitErrorClass> {
  let found: ExitErrorClass | undefined
  const probe = defineCommand('probe', async (_args, { assignShellVariable }) => {
    try {
      await assignShellVariable?.('probe', '', '1/0')
    } catch (error) {
      const { name, exitCode, constructor: ownClass } = error as Error & { exitCode?: number }
      if (name === 'ExitError' && exitCode !== undefined) found = ownClass as ExitErrorClass
    }
    return { stdout: '', stderr: '', exitCode: 0 }
  })
  const bash = new Bash({ customCommands: [probe], fs: nothing, cwd: '/', defenseInDepth: false })
  await bash.exec('probe').catch(() => {})
  return found ?? PlainError
}

const PlainError = class extends Error {
  constructor(_exitCode: number, _stdout: string, stderr: string) {
    super(stderr)
  }
} as ExitErrorClass

/** A file system without files. */
const nothing = new Proxy({} as IFileSystem, { get: () => async () => false })
