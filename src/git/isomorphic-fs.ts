import { ToolError } from '../errors.ts'
import { childOf, GIT_DIRECTORY, isWithin, nameOf, type Path, parentOf, parsePath } from '../paths/logical-path.ts'
import { decodeName, encodeName } from '../paths/name-bytes.ts'
import type { Backend, Stat } from '../storage/backend.ts'
import { createPacer } from '../util/pacer.ts'
import { systemCodes } from '../util/system-codes.ts'
import { checkPack } from './check-pack.ts'
import { readLoose } from './objects.ts'
import { requireReadable } from './repository-files.ts'

/** The file system interface of isomorphic-git. */
export interface GitFs {
  readonly promises: Readonly<Record<string, (...args: never[]) => Promise<unknown>>>
}

/**
 * Returns the file system that isomorphic-git works on: only `.git` in the root, so that no repository content can make it
 * reach a file of the workspace. Objects are written without waiting for the disk; refs and other files durably.
 */
export function gitFs(backend: Backend): GitFs {
  function toPath(name: string): Path {
    // A name sent by a server must not lead outside its directory.
    if (/(^|\/)\.\.(\/|$)/.test(name)) throw errno('EACCES', name)
    const path = parsePath(name.replace(/^\/+/, '') || '.')
    if (!isWithin(path, GIT_DIRECTORY)) throw errno('EACCES', name)
    return path as Path
  }

  const pace = createPacer()

  /** Runs an access without following links. Errors get the code of a system error. */
  async function at<T>(name: string, access: (path: Path) => Promise<T>): Promise<T> {
    // isomorphic-git makes as many accesses as a server names refs, and memory answers each without a turn.
    await pace()
    try {
      const path = toPath(name)
      if ((await backend.canonical(path, { noFollow: true })) !== path) throw errno('ELOOP', name)
      return await access(path)
    } catch (error) {
      throw error instanceof ToolError ? errno(systemCodes[error.code] ?? 'EIO', name, error) : error
    }
  }

  const commit = (path: Path, to: Parameters<Backend['commit']>[0][number]['to'], expect: 'any' | 'absent' = 'any') =>
    backend.commit([{ path, expect, to }], { durability: /^\.git\/objects\//.test(path) ? 'relaxed' : 'durable' })

  const stat = (name: string) =>
    at(name, async (path) => {
      const entry = await backend.stat(path)
      if (entry === undefined) throw errno('ENOENT', name)
      return statsOf(entry)
    })

  const promises = {
    stat,
    lstat: stat,
    readFile: (name: string, options?: string | { encoding?: string }) =>
      at(name, async (path) => {
        const { size = 0 } = (await backend.stat(path)) ?? {}
        requireReadable(path, size)
        const { bytes } = await backend.read(path)
        // isomorphic-git inflates whatever comes.
        if (/^\.git\/objects\/[0-9a-f]{2}\//.test(path)) await readLoose(bytes)
        if (isPack(path)) await checkPack(bytes)
        const encoding = typeof options === 'string' ? options : options?.encoding
        // Lines that are not UTF-8, such as a ref or a setting, stay as they are. Copied, because isomorphic-git may write into the bytes, which belong to the backend.
        return encoding === 'utf8' ? decodeName(bytes) : bytes.slice()
      }),
    async writeFile(name: string, data: string | Uint8Array) {
      const bytes = typeof data === 'string' ? encodeName(data) : data.slice()
      // What a server has sent. The error keeps its message.
      if (isPack(name)) await checkPack(bytes)
      await at(name, (path) => commit(path, { type: 'file', bytes }))
    },
    unlink: (name: string) => at(name, async (path) => void (await commit(path, null))),
    rmdir: (name: string) => at(name, async (path) => void (await commit(path, null))),
    readdir: (name: string) => at(name, async (path) => (await backend.list(path)).map((entry) => entry.name)),
    mkdir: (name: string) => at(name, async (path) => void (await commit(path, { type: 'directory' }, 'absent'))),
    rename: (from: string, to: string) =>
      at(from, (source) =>
        at(to, async (target) => {
          const { bytes } = await backend.read(source)
          await backend.commit(
            [
              { path: source, expect: 'any', to: null },
              { path: target, expect: 'any', to: { type: 'file', bytes: bytes.slice() }, from: source },
            ],
            { durability: 'durable' },
          )
        }),
      ),
    readlink: (name: string) => at(name, (path) => backend.readLink(path)),
    symlink: async (_: string, name: string) => {
      throw errno('EPERM', name)
    },
  }
  return { promises }
}

const isPack = (name: string) => /\.git\/objects\/pack\/[^/]+\.pack$/.test(name)

function errno(code: string, name: string, cause?: ToolError): Error & { code: string; path: string } {
  return Object.assign(new Error(`${code}: ${nameOf(name as Path)}`, { cause }), { code, path: name })
}

/** Returns the file system without an effect after a signal. */
export function untilAborted({ promises }: GitFs, signal: AbortSignal): GitFs {
  const stopped = Object.entries(promises).map(([name, act]) => [
    name,
    async (...args: never[]) => {
      if (signal.aborted) throw errno('EINTR', name)
      return act(...args)
    },
  ])
  return { promises: Object.fromEntries(stopped) }
}

/** isomorphic-git detects changes by times, size and inode. The inode here is derived from the tag, so it changes too. */
function statsOf({ type, size, mode, modifiedAt = 0, tag }: Stat) {
  let ino = 0
  for (let i = 0; i < tag.length; i++) ino = (Math.imul(ino, 31) + tag.charCodeAt(i)) >>> 0
  return {
    type: type === 'directory' ? 'dir' : type === 'link' ? 'symlink' : 'file',
    mode: (type === 'directory' ? 0o40000 : type === 'link' ? 0o120000 : 0o100000) | (mode ?? 0o644),
    size,
    ino,
    dev: 0,
    uid: 0,
    gid: 0,
    mtimeMs: modifiedAt,
    ctimeMs: modifiedAt,
    isFile: () => type === 'file',
    isDirectory: () => type === 'directory',
    isSymbolicLink: () => type === 'link',
  }
}

/** Creates the directories above a path of the repository. */
export async function makeDirectories(backend: Backend, path: Path): Promise<void> {
  const missing: Path[] = []
  for (let above = parentOf(path); above !== '' && (await backend.stat(above)) === undefined; above = parentOf(above)) {
    missing.unshift(above)
  }
  if (missing.length === 0) return
  await backend.commit(
    missing.map((directory) => ({ path: directory, expect: 'any', to: { type: 'directory' } })),
    { durability: 'relaxed' },
  )
}

/** Deletes the repository. */
export async function removeRepository(backend: Backend): Promise<void> {
  if ((await backend.stat(GIT_DIRECTORY))?.type !== 'directory') return
  const paths: Path[] = [GIT_DIRECTORY]
  for (const directory of paths) {
    if ((await backend.stat(directory))?.type !== 'directory') continue
    for (const { name } of await backend.list(directory)) paths.push(childOf(directory, name))
  }
  await backend.commit(
    paths.map((path) => ({ path, expect: 'any', to: null })),
    { durability: 'durable' },
  )
}

/** Returns the path of one of git's own files. */
export function gitPath(...names: string[]): Path {
  let path = GIT_DIRECTORY
  for (const name of names) path = childOf(path, name)
  return path
}
