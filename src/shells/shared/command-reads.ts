import { ToolError } from '../../errors.ts'
import { requireFile } from '../../guard/guarded-files.ts'
import { childOf, type Path, quote } from '../../paths/logical-path.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import type { Backend, DirectoryEntry, ScanVisit } from '../../storage/backend.ts'
import { type Lookups, look, runLookups } from '../../storage/lookups.ts'
import { visibleFiles } from '../../storage/walk.ts'
import type { CommandFiles } from '../types.ts'
import { type CommandGate, LARGE_BYTES } from './command-gate.ts'

const NO_BYTES = new Uint8Array()

/** A file as a command gets it, with secrets replaced by marks, and as it is stored. */
interface FileContent {
  readonly access: GuardedAccess
  readonly stored: Uint8Array
  readonly shown: Uint8Array
}

/** Reads a file for a command. `onRead` records the reading. */
export function readFile(
  gate: CommandGate,
  path: string,
  onRead: (path: Path, bytes: number) => void,
): Promise<FileContent> {
  return gate.attempt('file:read', path, async () => {
    const access = await gate.reach({ permission: 'file:read', path })
    const stat = await gate.backend.stat(access.path)
    requireFile(access.path, stat)
    gate.requireFits(path, stat.size, 'has')
    const { bytes } = await gate.backend.read(access.path)
    onRead(access.path, bytes.length)
    return { access, stored: bytes, shown: await gate.hide(bytes, access.path) }
  })
}

/** The operations of a command's files that change nothing. */
export type CommandReads = Pick<
  CommandFiles,
  'stat' | 'list' | 'read' | 'readLink' | 'realPath' | 'walk' | 'noteShown' | 'noteMetadata' | 'scan'
>

export function createCommandReads(gate: CommandGate): CommandReads {
  const { backend, options } = gate
  const noteShown = (paths: Iterable<Path>) => {
    for (const path of paths) options.flow?.readName(path)
  }
  return {
    stat: (path, statOptions) => gate.visibleStat(path, statOptions?.noFollow),

    list: (path, { showsAll = true } = {}) =>
      runLookups(backend, listLookups(gate, path, showsAll ? noteShown : undefined)),

    async read(path) {
      const { access, stored, shown } = await readFile(gate, path, options.onRead)
      options.flow?.read(access.asked as Path)
      gate.keepContent(access.path, { stored, shown })
      // A large file is decoded and sent next, which takes about as long as the search for secrets.
      await gate.pause()
      return shown
    },

    readLink: (path) =>
      runLookups(
        backend,
        linkLookups(gate, path, (link) => options.flow?.read(link)),
      ),

    async realPath(path) {
      const { path: real } = await gate.requireVisible(path)
      options.flow?.readName(real)
      return real
    },

    walk: (path, filters) =>
      gate.attempt('file:search', path, async () => {
        const access = await gate.reach({ permission: 'file:search', path })
        const visibility = options.visibility('search')
        const stat = await backend.stat(access.path)
        if (stat?.type === 'file') return [access.path]
        const found = { filters, ...visibility, links: false, signal: options.signal }
        const paths = await visibleFiles(backend, access.path, found)
        if (filters.showsAll !== false) noteShown(paths)
        return paths
      }),

    noteShown,

    noteMetadata(paths) {
      for (const path of paths) options.flow?.read(path)
    },

    scan: (paths, wants, visit) => scanFiles(gate, paths, wants, visit),
  }
}

/** Lists what shows of a directory, independent of how entries are looked up. */
export function* listLookups(
  gate: CommandGate,
  path: string,
  noteShown?: (paths: readonly Path[]) => void,
): Lookups<readonly DirectoryEntry[]> {
  const directory = yield* gate.visibleLookups(path)
  const entries = yield* look((reads) => reads.list(directory.path))
  const visible = entries.filter(({ name, type }) => gate.sees(childOf(directory.path, name), type))
  noteShown?.(visible.map(({ name }) => childOf(directory.path, name)))
  return visible
}

/** Reads a link, independent of how entries are looked up. */
export function* linkLookups(gate: CommandGate, path: string, noteRead: (link: Path) => void): Lookups<string> {
  const stat = yield* gate.statLookups(path, true)
  if (stat?.type === 'link') {
    yield* gate.targetLookups(path)
    noteRead(stat.path)
    return yield* look((reads) => reads.readLink(stat.path))
  }
  throw new ToolError(stat === undefined ? 'NOT_FOUND' : 'INVALID_INPUT', `${quote(path)} is not a link`, { path })
}

async function scanFiles(
  gate: CommandGate,
  paths: readonly Path[],
  wants: Parameters<CommandFiles['scan']>[1],
  visit: Parameters<CommandFiles['scan']>[2],
): Promise<readonly Path[]> {
  const { backend, options, marks } = gate
  const { fileBytes } = options.limits
  const tooLarge: Path[] = []
  let large: { readonly path: Path; readonly stored: Uint8Array }[] = []
  const visitFile: ScanVisit = (path, stored, { size }) => {
    gate.requireRunning()
    if (size > fileBytes) {
      options.flow?.read(path)
      tooLarge.push(path)
      return true
    }
    const isWanted = wants === undefined || wants(path, stored)
    // A miss shows that the file has no hit.
    if (isWanted === false) options.flow?.read(path)
    if (isWanted !== true) return isWanted !== undefined
    options.onRead(path, stored.length)
    if (stored.length <= LARGE_BYTES) return visit(path, marks.hide(stored, path))
    // A visit cannot wait, so the scan ends here and continues after the file.
    large.push({ path, stored: stored.slice() })
    return false
  }
  for (let next = 0; next < paths.length; ) {
    large = []
    const pending = next === 0 ? paths : paths.slice(next)
    if (backend.scan === undefined) await visitEach(backend, pending, visitFile, fileBytes)
    else await backend.scan(pending, visitFile, fileBytes)
    const [last] = large
    if (last === undefined) break
    const { path, stored } = last
    if (!visit(path, await gate.hide(stored, path))) break
    next = paths.indexOf(path, next) + 1
  }
  return tooLarge
}

/** {@link Backend.scan} for a backend without it. */
async function visitEach(backend: Backend, paths: readonly Path[], visit: ScanVisit, maxBytes: number): Promise<void> {
  for (const path of paths) {
    const stat = await backend.stat(path)
    if (stat?.type !== 'file') continue
    const bytes = stat.size > maxBytes ? NO_BYTES : (await backend.read(path)).bytes
    if (!visit(path, bytes, stat)) return
  }
}
