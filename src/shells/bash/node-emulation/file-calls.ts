import { isUint8Array } from '../../../util/bytes.ts'
import type { ImportKind } from './package-manifest.ts'
import { codedError, type Resolver } from './resolve.ts'
import type { ScriptFiles, ScriptStat } from './script.ts'

/** The answer to a file access of a script: a value, an error with a system's code, or bytes. */
type Answer = { readonly value: unknown } | { readonly error: object } | Uint8Array

/** Creates the file operations that the guest calls by name. */
export function createFileCalls(files: ScriptFiles, resolver: Resolver) {
  const calls: Readonly<Record<string, (...args: never[]) => Promise<unknown>>> = {
    read: (path: string) => files.readFileBuffer(path),
    stat: async (path: string) => statOf(await files.stat(path)),
    lstat: async (path: string) => statOf(await files.lstat(path)),
    access: async (path: string) => void (await files.stat(path)),
    async readdir(path: string) {
      const entries: { name: string; type: string }[] = []
      for (const name of await files.readdir(path)) {
        entries.push({ name, type: typeOf(await files.lstat(`${path}/${name}`)) })
      }
      return entries
    },
    async mkdir(path: string, isDeep: boolean) {
      await files.mkdir(path, { recursive: isDeep })
      return isDeep ? path : undefined
    },
    async rm(path: string, recursive: boolean, force: boolean) {
      if (!recursive && (await files.lstat(path).catch(() => undefined))?.isDirectory === true) {
        throw codedError('ERR_FS_EISDIR', `Path is a directory: rm returned EISDIR (is a directory) ${path}`)
      }
      await files.rm(path, { recursive, force })
    },
    async rmdir(path: string, recursive: boolean) {
      if (!(await files.lstat(path)).isDirectory)
        throw codedError('ENOTDIR', `ENOTDIR: not a directory, rmdir '${path}'`)
      if (!recursive && (await files.readdir(path)).length > 0) {
        throw codedError('ENOTEMPTY', `ENOTEMPTY: directory not empty, rmdir '${path}'`)
      }
      await files.rm(path, { recursive: true })
    },
    async unlink(path: string) {
      if ((await files.lstat(path)).isDirectory)
        throw codedError('EISDIR', `EISDIR: illegal operation on a directory, unlink '${path}'`)
      await files.rm(path)
    },
    rename: (from: string, to: string) => files.mv(from, to),
    copy: (from: string, to: string, recursive: boolean) => files.cp(from, to, { recursive }),
    symlink: (target: string, path: string) => files.symlink(target, path),
    readlink: (path: string) => files.readlink(path),
    realpath: (path: string) => files.realpath(path),
    chmod: (path: string, mode: number) => files.chmod(path, mode),
    resolve: (name: string, from: string, kind: ImportKind) => resolver.resolve(name, from, kind),
  }

  async function answer(run: () => Promise<unknown>): Promise<Answer> {
    try {
      const value = await run()
      return isUint8Array(value) ? value : { value }
    } catch (error) {
      return { error: asSystemError(error) }
    }
  }

  return {
    async call(name: string, args: readonly unknown[]): Promise<Answer> {
      const run = Object.hasOwn(calls, name) ? calls[name] : undefined
      if (run === undefined) return { error: { message: `Unknown operation: ${name}` } }
      return answer(() => run(...(args as never[])))
    },
    write: (path: string, bytes: Uint8Array, append: boolean) =>
      answer(async () => void (await (append ? files.appendFile(path, bytes) : files.writeFile(path, bytes)))),
  }
}

function typeOf({ isFile, isDirectory }: ScriptStat) {
  return isFile ? 'file' : isDirectory ? 'directory' : 'link'
}

function statOf(stat: ScriptStat) {
  const { size, mode, mtime } = stat
  const type = typeOf(stat)
  const bits = type === 'file' ? 0o100000 : type === 'directory' ? 0o040000 : 0o120000
  return { type, size, mode: bits | (mode & 0o777), mtimeMs: mtime.getTime() }
}

function asSystemError(error: unknown): object {
  const { message = 'it failed', code } = error as { message?: string; code?: unknown }
  const [, syscall, path] = /, (\w+) '(.*)'$/s.exec(message) ?? []
  return { message, code, ...(syscall === undefined ? {} : { syscall, path }) }
}
