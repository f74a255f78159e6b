import type { ExecResult, FsStat, IFileSystem } from 'just-bash'
import { isUint8Array } from '../../util/bytes.ts'
import {
  type Check,
  checkArgument,
  checkOptions,
  isFunction,
  isRecordOf,
  isText,
  must,
} from '../../util/check-options.ts'
import { bytesOfText, textOfBytes } from './byte-encoding.ts'
import type { CommandStart } from './command-hooks.ts'
import { type CustomCommand, customCommand } from './custom-command.ts'
import { systemError } from './fs-errors.ts'
import type { OwnCommand, OwnCommandFiles, OwnCommandResult, OwnCommandStat } from './own-command.ts'
import { resolvePath } from './virtual-paths.ts'

/** Commands that the interpreter has in itself and does not look up. */
const builtins: ReadonlySet<string> = new Set(
  '. : [ alias bg break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait'.split(
    ' ',
  ),
)
const keywords: ReadonlySet<string> = new Set(
  'if then elif else fi for in do done while until case esac select function time coproc'.split(' '),
)

const isName = must(
  'an object whose keys are names of commands: letters, digits and _ . + -, at most 64, and none of the shell itself such as cd',
  (value) =>
    Object.keys(value as object).every(
      (name) => /^[A-Za-z_][\w.+-]{0,63}$/.test(name) && !builtins.has(name) && !keywords.has(name),
    ),
)
const isNoList = must(
  'an object of functions by the names of the commands; the policy names the allowed commands (commands: { allow })',
  (value) => !Array.isArray(value),
)

/** Checks the commands of `bash({ commands })`. */
export const areOwnCommands: Check = (value, path, owner) =>
  isName(isRecordOf(isFunction)(isNoList(value, path, owner), path, owner), path, owner)

/** Decides whether a command that runs may have what it has read. Returns the reason of a refusal. */
export interface ContentJudge {
  refusalOfContent(command: CommandStart): string | undefined
}

/** Makes commands of the interpreter from those of `bash({ commands })`. */
export function ownCommands(
  commands: Readonly<Record<string, OwnCommand>>,
  fs: IFileSystem,
  signal: AbortSignal,
  refusalOfContent?: ContentJudge['refusalOfContent'],
): readonly CustomCommand[] {
  return Object.entries(commands).map(([name, run]) =>
    customCommand(name, async (args, { cwd, stdin, env }) => {
      const stdinBytes = bytesOfText(stdin, 'latin1')
      const started = { words: [name, ...args], isFunction: false, cwd, isNested: true }
      const files = filesFrom(fs, cwd, () => refusalOfContent?.(started))
      const context = { fs: files, cwd, env, stdin: textOfBytes(stdinBytes, 'utf8'), stdinBytes, signal }
      try {
        return resultOf(await run([...args], context))
      } catch (error) {
        const { message } = (error ?? {}) as { message?: unknown }
        const reason = typeof message === 'string' ? message : String(error)
        return { stdout: '', stderr: `${name}: ${reason}\n`, exitCode: 1 }
      }
    }),
  )
}

/** @throws TypeError for anything else than an {@link OwnCommandResult}, a text or nothing */
function resultOf(returned: unknown): ExecResult {
  const result = typeof returned === 'string' ? { stdout: returned } : (returned ?? {})
  const {
    stdout = '',
    stderr = '',
    exitCode = 0,
  } = checkOptions<OwnCommandResult>('the result of the command', result, {
    stdout: isOutput,
    stderr: isOutput,
    exitCode: must(
      'a whole number from 0 to 255',
      (code) => Number.isInteger(code) && (code as number) >= 0 && (code as number) <= 255,
    ),
  })
  return {
    // just-bash carries bytes with a character for each.
    ...(typeof stdout === 'string'
      ? { stdout }
      : { stdout: textOfBytes(stdout, 'latin1'), stdoutKind: 'bytes' as const }),
    stderr: typeof stderr === 'string' ? stderr : textOfBytes(stderr, 'utf8'),
    exitCode,
  }
}

const isOutput = must('a string or a Uint8Array', (value) => typeof value === 'string' || isUint8Array(value))

/** @param refusal returns why the command must not have what it has read */
function filesFrom(fs: IFileSystem, cwd: string, refusal: () => string | undefined): OwnCommandFiles {
  const at = (path: string): string =>
    resolvePath(cwd, checkArgument('a file operation of the command', 'path', path, isText))
  /** Its error counts as well: it tells about what is there. */
  const read = async <T>(path: string, act: (path: string) => Promise<T>): Promise<T> => {
    const absolute = at(path)
    const [result] = await Promise.allSettled([act(absolute)])
    if (refusal() !== undefined) throw systemError('EACCES', 'read', path)
    if (result.status === 'rejected') throw result.reason
    return result.value
  }
  const statOf = async (stat: Promise<FsStat>): Promise<OwnCommandStat> => {
    const { isFile, isDirectory, isSymbolicLink, mode, size, mtime } = await stat
    return { isFile, isDirectory, isSymbolicLink, mode, size, mtime }
  }
  return {
    readFile: (path) => read(path, (absolute) => fs.readFile(absolute)),
    readFileBuffer: (path) => read(path, (absolute) => fs.readFileBuffer(absolute)),
    writeFile: (path, content) => fs.writeFile(at(path), content),
    appendFile: (path, content) => fs.appendFile(at(path), content),
    exists: (path) => read(path, (absolute) => fs.exists(absolute)),
    stat: (path) => read(path, (absolute) => statOf(fs.stat(absolute))),
    lstat: (path) => read(path, (absolute) => statOf(fs.lstat(absolute))),
    readdir: (path) => read(path, (absolute) => fs.readdir(absolute)),
    mkdir: (path, options) => fs.mkdir(at(path), options),
    rm: (path, options) => fs.rm(at(path), options),
    cp: (from, to, options) => fs.cp(at(from), at(to), options),
    mv: (from, to) => fs.mv(at(from), at(to)),
    chmod: (path, mode) => fs.chmod(at(path), mode),
    symlink: (target, path) => fs.symlink(target, at(path)),
    readlink: (path) => read(path, (absolute) => fs.readlink(absolute)),
    realpath: (path) => read(path, (absolute) => fs.realpath(absolute)),
  }
}
