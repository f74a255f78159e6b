import type { Command, CommandContext, ExecResult, IFileSystem } from 'just-bash'
import { withOwnTexts } from './own-texts.ts'
import { resolvePath } from './virtual-paths.ts'

/** Records the paths that the files of a line have refused, in order. */
export class RefusalLog {
  readonly paths: string[] = []

  /** Returns the files, with each refusal recorded. */
  watch(fs: IFileSystem): IFileSystem {
    const entries = Object.entries(fs).map(([name, method]) => [name, this.#watched(method)] as const)
    return Object.fromEntries(entries) as unknown as IFileSystem
  }

  #watched(method: unknown): unknown {
    if (typeof method !== 'function') return method
    return (...args: unknown[]) => {
      const result: unknown = method(...args)
      if (result instanceof Promise) result.catch((error: { code?: unknown }) => this.#note(error, args))
      return result
    }
  }

  #note({ code }: { code?: unknown }, args: readonly unknown[]): void {
    if (code !== 'EACCES') return
    for (const path of args.slice(0, 2)) if (typeof path === 'string') this.paths.push(resolvePath('/', path))
  }
}

/** Commands of the interpreter that report every failure of a file as a missing file, or none. */
const names =
  `awk base64 cat chmod comm cut diff file gunzip gzip head jq md5sum od paste sed sha1sum sha256sum sort split
  strings tac tail tar tee uniq wc yq zcat`.split(/\s+/)

/** The commands above, with errors that name the refusal and texts that speak of this shell, an `rm` that reports refusals with `-f`, too, and an `rm` and an `mv` that act on
 * links themselves. */
export function refusalCommands(log: RefusalLog): Command[] {
  return [...names.map((name) => corrected(name, log)), rmCommand(log), mvCommand]
}

function corrected(name: string, log: RefusalLog): Command {
  return {
    name,
    async execute(args, context) {
      const start = log.paths.length
      const result = withOwnTexts(await original(name, args, context), args.includes('--help'))
      const refused = new Set(log.paths.slice(start))
      const stderr = result.stderr.replace(MISSING, (line, lead: string, operand: string) =>
        refused.has(resolvePath(context.cwd, operand)) ? `${lead}: Permission denied` : line,
      )
      if (stderr !== '' || refused.size === 0 || !SILENT.has(name)) return { ...result, stderr }
      const missing = args.filter((arg) => refused.has(resolvePath(context.cwd, arg)))
      return { ...result, stderr: missing.map((arg) => `${name}: ${arg}: Permission denied\n`).join('') }
    },
  }
}

/** Commands that print nothing, or print it as output, if a file cannot be read. */
const SILENT = new Set(['md5sum', 'sha1sum', 'sha256sum', 'file'])

/** `sed: a: No such file or directory`, `chmod: cannot access 'a': No such file or directory`. */
const MISSING = /^(\S+: (?:cannot \w+ )?'?(.+?)'?)(?:: Cannot open)?: No such file or directory$/gm

/** `rm -f` hides that a file is missing, and nothing else. */
function rmCommand(log: RefusalLog): Command {
  return {
    name: 'rm',
    async execute(args, context) {
      const { cwd, fs } = context
      const end = args.indexOf('--')
      const operands = args.filter((arg, index) => (end !== -1 && index > end) || !/^-./.test(arg))
      const start = log.paths.length
      const result = await withLinks('rm', args, context, async (path) => {
        await fs.rm(path)
        return ''
      })
      // Files of git are in no listing, so that the command takes them for missing.
      for (const operand of operands) {
        const path = resolvePath(cwd, operand)
        if (/\/\.git(\/|$)/i.test(path)) await fs.rm(path, { recursive: true }).catch(() => {})
      }
      const refused = log.paths.slice(start)
      const lines = operands.flatMap((operand) => {
        const path = resolvePath(cwd, operand)
        const isRefused = refused.some((one) => one === path || one.startsWith(`${path}/`))
        return isRefused ? [`rm: cannot remove '${operand}': Permission denied\n`] : []
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
    const target = args.at(-1) ?? ''
    const path = resolvePath(cwd, target)
    const isDirectory = await fs.stat(path).then(
      (stat) => stat.isDirectory,
      () => false,
    )
    const isSeveral = args.filter((arg) => !/^-./.test(arg)).length > 2
    if (args.length < 2 || (isSeveral && !isDirectory)) return original('mv', args, context)
    return withLinks(
      'mv',
      args.slice(0, -1),
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
 * Runs a command of the interpreter, which takes a link that leads nowhere for missing, and one to a directory for a directory. Acts on
 * the links among the operands by itself.
 *
 * @param act returns what `-v` prints behind the name
 * @param last operands for the command in any case
 */
async function withLinks(
  name: string,
  args: string[],
  context: CommandContext,
  act: (path: string, operand: string) => Promise<string>,
  last: readonly string[] = [],
): Promise<ExecResult> {
  const { cwd, fs } = context
  const end = args.indexOf('--')
  const rest: string[] = []
  let [operands, stdout, stderr] = [0, '', '']
  const options = args.filter((arg, index) => /^-./.test(arg) && !(end !== -1 && index > end))
  const isPlain = options.every((option) => /^-[frRvi]+$|^--$|^--(force|recursive|verbose)$/.test(option))
  const isVerbose = options.some((option) => /^-\w*v|^--verbose$/.test(option))
  for (const [index, arg] of args.entries()) {
    const isOperand = (end !== -1 && index > end) || !/^-./.test(arg)
    const path = resolvePath(cwd, arg)
    const isLink =
      isPlain && isOperand && !arg.endsWith('/') && (await fs.lstat(path).catch(() => undefined))?.isSymbolicLink
    if (isLink !== true) {
      rest.push(arg)
      operands += isOperand ? 1 : 0
      continue
    }
    try {
      const shown = (await act(path, arg)) ?? ''
      if (isVerbose) stdout += `${name === 'rm' ? 'removed' : 'renamed'} '${arg}'${shown}\n`
    } catch (error) {
      const { refusal } = error as { refusal?: { code?: unknown } }
      if (refusal?.code === 'APPROVAL_REQUIRED') throw error
      stderr += `${name}: cannot ${name === 'rm' ? 'remove' : 'move'} '${arg}': ${plainReason(error)}\n`
    }
  }
  const result =
    operands > 0 || rest.length === args.length
      ? await original(name, [...rest, ...last], context)
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
