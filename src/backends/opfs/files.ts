import { ToolError } from '../../errors.ts'
import { childOf, type LogicalPath, nameOf, type Path, parsePath, quote, ROOT } from '../../paths/logical-path.ts'
import type { Backend, Capabilities, Change } from '../../storage/backend.ts'
import { canonical } from '../../storage/canonical-path.ts'
import { commitFiles } from './files-commit.ts'
import { type Folder, wrongTypeAt } from './folder.ts'
import type { Lease } from './lease.ts'
import type { Staging } from './staging.ts'
import { StagingLease } from './staging-lease.ts'
import { hashBlob, StoredStreams } from './stored-streams.ts'
import { FolderWatches } from './watch-folder.ts'

export interface FilesOptions {
  /** Whether names that differ only in letter case are different. */
  readonly caseSensitive: boolean
  /** Whether staged files can be moved; otherwise they are copied. */
  readonly canMove: boolean
  readonly onCommit?: (changes: readonly Change[]) => void
}

/** Number of files that a scan reads ahead. */
const READ_AHEAD = 4

type Read = Backend['read']
type FileRead = Awaited<ReturnType<Read>>

/**
 * Opens a directory of a browser as a backend that stores each file as a file. A change set is staged, noted in a journal
 * and then applied, all under a lease that keeps other tabs from writing, and from reading half of a set. Links and
 * permission bits are not supported.
 */
export async function openFiles(
  lease: Lease<FileSystemDirectoryHandle>,
  folder: Folder,
  { caseSensitive, canMove, onCommit }: FilesOptions,
): Promise<Backend> {
  const stagingLease = new StagingLease(lease, folder, canMove)
  const streams = new StoredStreams()
  let isClosed = false
  // Commits exclude each other, and reads wait for them.
  let lastCommit: Promise<unknown> = Promise.resolve()

  const reading = <T>(verb: string, path: Path, action: (staging: Staging) => Promise<T>): Promise<T> =>
    lastCommit.then(() => stagingLease.run(verb, path, action))

  const watches = new FolderWatches(folder, (action) => {
    lastCommit = lastCommit.then(action).catch(() => {})
    return lastCommit
  })

  await stagingLease.run('open', ROOT, async () => {})
  return {
    capabilities: capabilitiesWith(caseSensitive),
    canonical: (path, options) =>
      reading('resolve', path as Path, async () =>
        canonicalIn(folder, caseSensitive ? path : await storedSpelling(folder, path), options),
      ),
    stat: (path) => reading('look at', path, () => statIn(folder, path)),
    list: (path) =>
      reading('list', path, async () => (await folder.list(path, 'list')).filter(({ name }) => isValidName(name))),
    read: (path, range) => reading('read', path, () => readIn(folder, path, range)),
    scan: (paths, visit) => scanFiles(paths, visit, (path) => reading('read', path, () => readWhole(folder, path))),
    readLink: (path) => reading('read link', path, () => refuseLink(folder, path)),
    commit(changes, options) {
      const result = lastCommit
        .then(() => commitFiles(stagingLease, folder, changes, options, streams, onCommit))
        .finally(() => watches.note(changes))
      lastCommit = result.catch(() => {})
      return result
    },
    stage: (path) => reading('write', path, (staging) => streams.open(staging.directory, path)),
    ...watches.method(),
    async close() {
      if (isClosed) return
      watches.close()
      await lastCommit
      await streams.discardAll()
      isClosed = true
      await stagingLease.close()
    },
  }
}

function capabilitiesWith(caseSensitive: boolean): Capabilities {
  return Object.freeze({
    links: false,
    modes: false,
    times: 'own',
    caseSensitive,
    authority: 'shared',
    persistent: true,
    atomic: 'set',
  })
}

async function statIn(folder: Folder, path: Path) {
  return (await folder.look(path))?.stat
}

async function refuseLink(folder: Folder, path: Path): Promise<never> {
  throw await wrongTypeAt(folder, 'read link', path, await folder.look(path))
}

function canonicalIn(folder: Folder, path: LogicalPath, options: Parameters<Backend['canonical']>[1]): Promise<Path> {
  const reads = { stat: (at: Path) => statIn(folder, at), readLink: (at: Path) => refuseLink(folder, at) }
  return canonical(reads, path, options)
}

/** Returns a whole file, or `undefined` if it does not exist. */
async function readWhole(folder: Folder, path: Path): Promise<FileRead | undefined> {
  const entry = await folder.look(path)
  if (entry?.type !== 'file') return undefined
  const bytes = await folder.bytes(entry)
  return { bytes, stat: { ...entry.stat, size: bytes.length } }
}

async function readIn(folder: Folder, path: Path, range: Parameters<Read>[1]): Promise<FileRead> {
  const entry = await folder.look(path)
  if (entry?.type !== 'file') throw await wrongTypeAt(folder, 'read', path, entry)
  const { stat } = entry
  if (range === undefined) {
    const bytes = await folder.bytes(entry)
    return { bytes, stat: { ...stat, size: bytes.length } }
  }
  if (range.tag !== undefined && range.tag !== stat.tag) {
    throw new ToolError('WRITE_CONFLICT', `Cannot read ${quote(path)}: it changed in the meantime`, {
      path,
      currentSha256: await hashBlob(entry.file),
    })
  }
  const start = Math.max(0, range.start)
  const part = entry.file.slice(start, Math.max(start, range.end))
  return { bytes: new Uint8Array(await part.arrayBuffer()), stat }
}

async function scanFiles(
  paths: readonly Path[],
  visit: Parameters<NonNullable<Backend['scan']>>[1],
  read: (path: Path) => Promise<FileRead | undefined>,
): Promise<void> {
  const pending: Promise<FileRead | undefined>[] = []
  let next = 0
  for (const path of paths) {
    while (next < paths.length && pending.length < READ_AHEAD) {
      const reading = read(paths[next++] as Path)
      // A scan that stops early does not await it.
      reading.catch(() => {})
      pending.push(reading)
    }
    const file = await pending.shift()
    if (file !== undefined && !visit(path, file.bytes, file.stat)) return
  }
}

/** Returns the path as the storage spells it, as far as it exists. */
async function storedSpelling(folder: Folder, path: LogicalPath): Promise<LogicalPath> {
  let stored = ROOT
  for (const name of path === '' ? [] : path.split('/')) {
    const entry = await folder.look(stored)
    const names = entry?.type === 'directory' ? (await folder.list(stored, 'list')).map((child) => child.name) : []
    const folded = foldCase(name)
    const match = names.includes(name) ? name : names.find((other) => foldCase(other) === folded)
    stored = childOf(stored, match ?? name)
  }
  return stored
}

function foldCase(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase()
}

function isValidName(name: string): boolean {
  try {
    return nameOf(parsePath(name)) === name
  } catch {
    return false
  }
}
