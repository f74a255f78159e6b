import type { Command, CommandContext, ExecResult, IFileSystem } from 'just-bash'
import { type Flags, type FlagTable, parseFlags } from './flags.ts'
import { reasonOf, type SystemError } from './fs-errors.ts'
import { withOwnTexts } from './own-texts.ts'
import { resolvePath } from './virtual-paths.ts'

/** Codes of refusals that the interpreter reports as a missing file. */
const REFUSALS = new Set<unknown>(['EACCES', 'EFBIG', 'EIO'])

/** `sed: a: No such file or directory`, `chmod: cannot access 'a': No such file or directory`. */
const MISSING = /^(\S+: (?:cannot \w+ )?'?(.+?)'?)(?:: Cannot open)?: No such file or directory$/gm

/** `xxd: EFBIG: file too large, read '/workspace/a'`. A script of `node` prints such errors itself, with a stack. */
const SYSTEM_ERROR = /^(?!Error)(.*?)(?<![A-Z])E[A-Z]{1,30}: [^,\n]{1,500}, \w{1,30} '([^'\n]*)'$/gm

const logs = new WeakMap<IFileSystem, RefusalLog>()

/** Runs a command over the files of a line. Its errors name the reason of a refusal, and not a missing file. */
export async function withReasons<R extends ExecResult>(
  { fs, state }: { readonly fs: IFileSystem; readonly state: { readonly cwd: string } },
  run: () => Promise<R>,
): Promise<R> {
  const log = logs.get(fs)
  if (log === undefined) return run()
  const start = log.refused.length
  const { cwd } = state
  const result = await run()
  return { ...result, stderr: log.corrected(result.stderr, cwd, start) }
}

/** A path that was refused, and the reason as a command prints it. */
interface RefusedPath {
  readonly path: string
  readonly reason: string
}

/** Records the paths that the files of a line have refused, in order. */
export class RefusalLog {
  readonly refused: RefusedPath[] = []

  /** Returns the files, with each refusal recorded. */
  watch(fs: IFileSystem): IFileSystem {
    const entries = Object.entries(fs).map(([name, method]) => [name, this.#watched(method)] as const)
    const watched = Object.fromEntries(entries) as unknown as IFileSystem
    logs.set(watched, this)
    return watched
  }

  /** Returns the errors of a command with the reasons of its refusals, which are those from `start` on. */
  corrected(stderr: string, cwd: string, start: number): string {
    const refused = this.refused.slice(start)
    if (refused.length === 0) return stderr
    return stderr
      .replace(MISSING, (line, lead: string, operand: string) => {
        const reason = reasonFor(refused, resolvePath(cwd, operand))
        return reason === undefined ? line : `${lead}: ${reason}`
      })
      .replace(SYSTEM_ERROR, (line, lead: string, path: string) => {
        const reason = reasonFor(refused, path)
        if (reason === undefined) return line
        return `${lead}${/^\S*: $/.test(lead) ? `${path}: ` : ''}${reason}`
      })
  }

  #watched(method: unknown): unknown {
    if (typeof method !== 'function') return method
    return (...args: unknown[]) => {
      const result: unknown = method(...args)
      if (result instanceof Promise) result.catch((error: SystemError) => this.#note(error, args))
      return result
    }
  }

  #note({ code, refusal }: SystemError, args: readonly unknown[]): void {
    if (!REFUSALS.has(code)) return
    const { sizeBytes, value } = refusal?.details ?? {}
    const size = sizeBytes === undefined ? '' : ` (${sizeBytes} bytes, over the limit of ${value})`
    for (const path of args.slice(0, 2)) {
      if (typeof path === 'string') this.refused.push({ path: resolvePath('/', path), reason: reasonOf(code) + size })
    }
  }
}

function reasonFor(refused: readonly RefusedPath[], path: string): string | undefined {
  return refused.find((one) => one.path === path)?.reason
}

/** Commands of the interpreter that report every failure of a file as a missing file, or none. */
const names =
  `awk base64 cat chmod comm cut diff file gunzip gzip head jq md5sum od paste sed sha1sum sha256sum sort split
  strings tac tail tar tee uniq wc yq zcat`.split(/\s+/)

/**
 * The commands above, with errors that name the refusal and texts that describe this shell. `rm` also reports refusals with `-f`; `rm` and
 * `mv` act on links themselves.
 */
export function refusalCommands(log: RefusalLog): Command[] {
  return [...names.map((name) => corrected(name, log)), rmCommand(log), mvCommand]
}

function corrected(name: string, log: RefusalLog): Command {
  return {
    name,
    async execute(args, context) {
      const { cwd } = context
      const start = log.refused.length
      const result = withOwnTexts(await original(name, args, context), args.includes('--help'))
      const stderr = log.corrected(result.stderr, cwd, start)
      const refused = log.refused.slice(start)
      if (stderr !== '' || refused.length === 0 || !SILENT.has(name)) return { ...result, stderr }
      const lines = args.map((arg) => [arg, reasonFor(refused, resolvePath(cwd, arg))] as const)
      return {
        ...result,
        stderr: lines.map(([arg, reason]) => (reason === undefined ? '' : `${name}: ${arg}: ${reason}\n`)).join(''),
      }
    },
  }
}

/** Commands that print nothing, or print it as output, if a file cannot be read. */
const SILENT = new Set(['md5sum', 'sha1sum', 'sha256sum', 'file'])

const FORCE: Readonly<Record<string, string>> = { '-f': '-f', '--force': '-f', '-v': '-v', '--verbose': '-v' }
const mvFlags: FlagTable = { plain: FORCE, valued: {} }
const rmFlags: FlagTable = { plain: { ...FORCE, '-r': '-r', '-R': '-r', '--recursive': '-r' }, valued: {} }

/** `rm -f` hides that a file is missing, and nothing else. */
function rmCommand(log: RefusalLog): Command {
  return {
    name: 'rm',
    async execute(args, context) {
      const { cwd, fs } = context
      const flags = parseFlags(args, rmFlags)
      if (flags === undefined) return original('rm', args, context)
      const { operands } = flags
      const start = log.refused.length
      const result = await withLinks('rm', flags, operands, context, async (path) => {
        await fs.rm(path)
        return ''
      })
      // Files of git are in no listing, so that the command takes them for missing.
      for (const operand of operands) {
        const path = resolvePath(cwd, operand)
        if (/\/\.git(\/|$)/i.test(path)) await fs.rm(path, { recursive: true }).catch(() => {})
      }
      const refused = log.refused.slice(start)
      const lines = operands.flatMap((operand) => {
        const path = resolvePath(cwd, operand)
        const first = refused.find((one) => one.path === path || one.path.startsWith(`${path}/`))
        return first === undefined ? [] : [`rm: cannot remove '${operand}': ${first.reason}\n`]
      })
      if (lines.length === 0) return result
      const others = result.stderr
        .split('\n')
        .filter((line) => line !== '' && !lines.some((one) => sameOperand(one, line)))
      return { ...result, stderr: [...others.map((line) => `${line}\n`), ...lines].join(''), exitCode: 1 }
    },
  }
}

const mvCommand: Command = {
  name: 'mv',
  async execute(args, context) {
    const { cwd, fs } = context
    const flags = parseFlags(args, mvFlags)
    const target = flags?.operands.at(-1)
    if (flags === undefined || target === undefined) return original('mv', args, context)
    const sources = flags.operands.slice(0, -1)
    const path = resolvePath(cwd, target)
    const isDirectory = await fs.stat(path).then(
      (stat) => stat.isDirectory,
      () => false,
    )
    if (sources.length === 0 || (sources.length > 1 && !isDirectory)) return original('mv', args, context)
    return withLinks(
      'mv',
      flags,
      sources,
      context,
      async (link, operand) => {
        const into = isDirectory ? `/${operand.slice(operand.lastIndexOf('/') + 1)}` : ''
        await fs.mv(link, `${path}${into}`)
        return ` -> '${target}${into}'`
      },
      [target],
    )
  },
}

/**
 * Runs a command of the interpreter, and handles the links among its sources itself: the interpreter treats a broken link as missing, and
 * a link to a directory as that directory.
 *
 * @param act returns what `-v` prints behind the name
 * @param last operands behind the sources
 */
async function withLinks(
  name: string,
  flags: Flags,
  sources: readonly string[],
  context: CommandContext,
  act: (path: string, operand: string) => Promise<string>,
  last: readonly string[] = [],
): Promise<ExecResult> {
  const { cwd, fs } = context
  const rest: string[] = []
  let [stdout, stderr] = ['', '']
  for (const arg of sources) {
    const path = resolvePath(cwd, arg)
    const isLink = !arg.endsWith('/') && (await fs.lstat(path).catch(() => undefined))?.isSymbolicLink
    if (isLink !== true) {
      rest.push(arg)
      continue
    }
    try {
      const shown = await act(path, arg)
      if (flags.count('-v') > 0) stdout += `${name === 'rm' ? 'removed' : 'renamed'} '${arg}'${shown}\n`
    } catch (error) {
      const { refusal } = error as { refusal?: { code?: unknown } }
      if (refusal?.code === 'APPROVAL_REQUIRED') throw error
      stderr += `${name}: cannot ${name === 'rm' ? 'remove' : 'move'} '${arg}': ${plainReason(error)}\n`
    }
  }
  const options = Object.values(rmFlags.plain).filter((flag) => flags.count(flag) > 0)
  const result =
    rest.length > 0 || sources.length === 0
      ? await original(name, [...new Set(options), '--', ...rest, ...last], context)
      : { stdout: '', stderr: '', exitCode: 0 }
  return {
    ...result,
    stdout: stdout + result.stdout,
    stderr: stderr + result.stderr,
    exitCode: stderr === '' ? result.exitCode : 1,
  }
}

/** `Permission denied` instead of `EACCES: permission denied, rm '/a'`. */
function plainReason(error: unknown): string {
  const [, reason = ''] = /^\w+: ([^,]*)/.exec((error as Error).message) ?? []
  return reason === '' ? (error as Error).message : reason.charAt(0).toUpperCase() + reason.slice(1)
}

function sameOperand(line: string, other: string): boolean {
  return other.startsWith(line.slice(0, line.lastIndexOf(':') + 1))
}

async function original(name: string, args: string[], { origCommand }: CommandContext) {
  return (await origCommand?.(args)) ?? { stdout: '', stderr: `${name}: not here\n`, exitCode: 127 }
}
