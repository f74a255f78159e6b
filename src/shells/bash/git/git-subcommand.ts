import type { ExecResult } from 'just-bash'
import { ToolError } from '../../../errors.ts'
import type { CommandGit } from '../../types.ts'
import type { FlagTable } from '../flags.ts'
import { HOME, resolvePath } from '../virtual-paths.ts'

/** A command of git as it was called. */
export interface GitInvocation {
  readonly git: CommandGit
  /** Where HEAD is. */
  readonly head: Head
  readonly args: readonly string[]
  readonly cwd: string
  readonly stdin: string
}

export type Head = NonNullable<Awaited<ReturnType<CommandGit['head']>>>

/** One command of git; `undefined` for an option that it does not know. */
export type GitSubcommand = (asked: GitInvocation) => Promise<ExecResult | undefined>

export function table(
  plain: Readonly<Record<string, string>>,
  valued: Readonly<Record<string, string>> = {},
): FlagTable {
  return { plain, valued }
}

export function gitSuccess(stdout: string, stderr = ''): ExecResult {
  return { stdout, stderr, exitCode: 0 }
}

export function failed(exitCode: number, stdout: string, stderr = ''): ExecResult {
  return { stdout, stderr, exitCode }
}

export function fatal(why: string): ExecResult {
  return { stdout: '', stderr: `fatal: ${why}\n`, exitCode: 128 }
}

/** A name as an operand, as a path of the workspace. */
export function toWorkspacePath(cwd: string, name: string): string {
  const path = resolvePath(cwd, name)
  if (path === HOME) return '.'
  if (path.startsWith(`${HOME}/`)) return path.slice(HOME.length + 1)
  throw new ToolError('PATH_REJECTED', `${name}: '${name}' is outside repository at '${HOME}'`)
}

/** A path of the workspace as a person in a directory of it writes it: the way back from `toWorkspacePath`. */
export function toOperand(cwd: string, path: string): string {
  const here = toWorkspacePath(cwd, '.')
  if (here === '.') return path
  const [from, to] = [here.split('/'), path.split('/')]
  const parted = from.findIndex((name, index) => name !== to[index])
  const shared = parted === -1 ? from.length : parted
  return `${'../'.repeat(from.length - shared)}${to.slice(shared).join('/')}` || './'
}

/** The operands before and after `--`. */
export function splitAtDashes(operands: readonly string[], args: readonly string[]): readonly [string[], string[]] {
  const dashes = args.indexOf('--')
  const count = dashes === -1 ? 0 : args.length - dashes - 1
  return [operands.slice(0, operands.length - count), operands.slice(operands.length - count)]
}

/** Whether a path is one of those or lies below one. */
export function matchesPathspec(path: string, wanted: readonly string[]): boolean {
  return wanted.some((one) => one === '.' || path === one || path.startsWith(`${one}/`))
}

export function short(commit: string): string {
  return commit.slice(0, 7)
}

export function subject(message: string): string {
  return message.replace(/\n.*/s, '')
}

export function detachedAt({ commit }: Head): string {
  return `HEAD detached at ${short(String(commit))}`
}

/** ` 2 files changed, 3 insertions(+), 1 deletion(-)`, as git counts. */
export function changeSummary(diff: readonly { readonly insertions: number; readonly deletions: number }[]): string {
  const of = (name: 'insertions' | 'deletions') => diff.reduce((sum, one) => sum + one[name], 0)
  const many = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`
  const [insertions, deletions] = [of('insertions'), of('deletions')]
  const parts = [`${many(diff.length, 'file')} changed`]
  if (insertions > 0 || deletions === 0) parts.push(`${many(insertions, 'insertion')}(+)`)
  if (deletions > 0 || insertions === 0) parts.push(`${many(deletions, 'deletion')}(-)`)
  return ` ${parts.join(', ')}\n`
}
