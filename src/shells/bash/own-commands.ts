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
import { type CustomCommand, customCommand } from './custom-command.ts'
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

/** Makes commands of the interpreter from those of `bash({ commands })`. */
export function ownCommands(
  commands: Readonly<Record<string, OwnCommand>>,
  fs: IFileSystem,
  signal: AbortSignal,
): readonly CustomCommand[] {
  return Object.entries(commands).map(([name, run]) =>
    customCommand(name, async (args, { cwd, stdin, env }) => {
      const stdinBytes = bytesOfText(stdin, 'latin1')
      const context = { fs: filesFrom(fs, cwd), cwd, env, stdin: textOfBytes(stdinBytes, 'utf8'), stdinBytes, signal }
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

function filesFrom(fs: IFileSystem, cwd: string): OwnCommandFiles {
  const at = (path: string): string =>
    resolvePath(cwd, checkArgument('a file operation of the command', 'path', path, isText))
  const statOf = async (stat: Promise<FsStat>): Promise<OwnCommandStat> => {
    const { isFile, isDirectory, isSymbolicLink, mode, size, mtime } = await stat
    return { isFile, isDirectory, isSymbolicLink, mode, size, mtime }
  }
  return {
    readFile: (path) => fs.readFile(at(path)),
    readFileBuffer: (path) => fs.readFileBuffer(at(path)),
    writeFile: (path, content) => fs.writeFile(at(path), content),
    appendFile: (path, content) => fs.appendFile(at(path), content),
    exists: (path) => fs.exists(at(path)),
    stat: (path) => statOf(fs.stat(at(path))),
    lstat: (path) => statOf(fs.lstat(at(path))),
    readdir: (path) => fs.readdir(at(path)),
    mkdir: (path, options) => fs.mkdir(at(path), options),
    rm: (path, options) => fs.rm(at(path), options),
    cp: (from, to, options) => fs.cp(at(from), at(to), options),
    mv: (from, to) => fs.mv(at(from), at(to)),
    chmod: (path, mode) => fs.chmod(at(path), mode),
    symlink: (target, path) => fs.symlink(target, at(path)),
    readlink: (path) => fs.readlink(at(path)),
    realpath: (path) => fs.realpath(at(path)),
  }
}
