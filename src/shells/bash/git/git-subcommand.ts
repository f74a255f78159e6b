import type { ExecResult } from 'just-bash'
import { ToolError } from '../../../errors.ts'
import type { CommandGit } from '../../types.ts'
import { type Flags, type FlagTable, parseFlags, unknownFlag } from '../flags.ts'
import { resolvePath, workspacePath } from '../virtual-paths.ts'

/** Where a git command runs, in the tree that commands see. */
export interface GitLocation {
  readonly cwd: string
  /** The root of the workspace. */
  readonly root: string
}

/** A call of a git command. */
export interface GitInvocation {
  readonly git: CommandGit
  readonly head: Head
  readonly args: readonly string[]
  readonly at: GitLocation
  readonly stdin: string
}

export type Head = NonNullable<Awaited<ReturnType<CommandGit['head']>>>

/** One git command. Returns `undefined` for an option that it does not know. */
export type GitSubcommand = (invocation: GitInvocation) => Promise<ExecResult | undefined>

export function table(
  plain: Readonly<Record<string, string>>,
  valued: Readonly<Record<string, string>> = {},
): FlagTable {
  return { plain, valued }
}

/** @throws ToolError that names an option that the command does not have here */
export function gitFlags(args: readonly string[], flagTable: FlagTable): Flags {
  const flags = parseFlags(args, flagTable)
  if (flags !== undefined) return flags
  throw new ToolError(
    'INVALID_INPUT',
    `an option of it is not available in this shell: ${unknownFlag(args, flagTable)}`,
  )
}

export function gitSuccess(stdout: string, stderr = ''): ExecResult {
  return { stdout, stderr, exitCode: 0 }
}

export function failed(exitCode: number, stdout: string, stderr = ''): ExecResult {
  return { stdout, stderr, exitCode }
}

export function fatal(reason: string): ExecResult {
  return { stdout: '', stderr: `fatal: ${reason}\n`, exitCode: 128 }
}

/** Converts an operand to a path of the workspace. */
export function toWorkspacePath({ cwd, root }: GitLocation, name: string): string {
  const path = resolvePath(cwd, name)
  const inside = workspacePath(path, root)
  if (inside !== undefined) return inside
  throw new ToolError('PATH_REJECTED', `${name}: '${name}' is outside repository at '${root}'`)
}

/** Converts a path of the workspace to an operand relative to a directory: the inverse of `toWorkspacePath`. */
export function toOperand(at: GitLocation, path: string): string {
  const directory = toWorkspacePath(at, '.')
  if (directory === '.') return path
  const [from, to] = [directory.split('/'), path.split('/')]
  const difference = from.findIndex((name, index) => name !== to[index])
  const shared = difference === -1 ? from.length : difference
  return `${'../'.repeat(from.length - shared)}${to.slice(shared).join('/')}` || './'
}

/** Returns the operands before and after `--`. */
export function splitAtDashes(operands: readonly string[], args: readonly string[]): readonly [string[], string[]] {
  const dashes = args.indexOf('--')
  const count = dashes === -1 ? 0 : args.length - dashes - 1
  return [operands.slice(0, operands.length - count), operands.slice(operands.length - count)]
}

/** Whether a path is one of the given paths, or below one. */
export function matchesPathspec(path: string, pathspec: readonly string[]): boolean {
  return pathspec.some((start) => start === '.' || path === start || path.startsWith(`${start}/`))
}

export function short(commit: string): string {
  return commit.slice(0, 7)
}

export function subject(message: string): string {
  return message.replace(/\n.*/s, '')
}

export async function detachedAt(git: CommandGit): Promise<string> {
  return `HEAD detached at ${short(await git.resolve('HEAD', { shows: true }))}`
}
