import { ToolError } from '../../errors.ts'
import { guardAccesses } from '../../guard/guard-accesses.ts'
import { requireFile } from '../../guard/guarded-files.ts'
import type { Visibility } from '../../guard/visibility.ts'
import {
  childOf,
  isWithin,
  type LogicalPath,
  type Path,
  parentOf,
  parsePath,
  quote,
  ROOT,
} from '../../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../../policy/access.ts'
import type { Permission } from '../../policy/permissions.ts'
import type { Backend, Change, EntryType, Stat } from '../../storage/backend.ts'
import { linkTarget } from '../../storage/change-set.ts'
import { stateAt } from '../../storage/versions.ts'
import { visibleFiles } from '../../storage/walk.ts'
import { concatBytes } from '../../util/bytes.ts'
import type { CommandFiles, CommandStat, RefusedAccess } from '../types.ts'
import { refusing } from './refusal-codes.ts'
import { createMarks } from './secret-marks.ts'

export interface CommandFilesOptions {
  /** Takes the changes: an overlay that is the command's own. */
  readonly backend: Backend
  /** Judges one access. @throws ToolError for what is refused */
  readonly judge: (access: GuardedAccess) => void
  /** What shows in listings, and in searches. */
  readonly visibility: (kind: 'list' | 'search') => Visibility
  readonly signal: AbortSignal
  /** Told of each file whose bytes are read, and of how many. What it throws refuses them. */
  readonly onRead: (path: Path, bytes: number) => void
  readonly limits: { readonly treeEntries: number; readonly fileBytes: number }
}

/** The files of one command, with what it reached through them. */
export interface TrackedCommandFiles extends CommandFiles {
  readonly refusals: readonly RefusedAccess[]
  /** The accesses that changed something. */
  readonly accesses: readonly GuardedAccess[]
  readonly readContents: ReadonlyMap<Path, { readonly stored: Uint8Array; readonly shown: Uint8Array }>
  /** Judges an access that is made on behalf of the command, and notes it. @throws ToolError */
  reach(access: Access): Promise<void>
  /** Changes many files at once: each of them is judged before any is changed. */
  apply(changes: readonly Change[]): Promise<void>
  /** Content that stood at a path, as a command may see it: judged by that name, secrets as marks. */
  show(path: string, stored: Uint8Array): Promise<Uint8Array>
}

/** Refusals of one command to remember: a program that tries more is told no all the same. */
const MAX_REFUSALS = 200

/** The one gate of a command: everything that it does to files is guarded, classified and judged here. */
export function createCommandFiles(options: CommandFilesOptions): TrackedCommandFiles {
  const { backend, judge, signal, limits } = options
  const refusals = new Map<string, RefusedAccess>()
  const accesses = new Map<string, GuardedAccess>()
  const given = new Map<Path, { stored: Uint8Array; shown: Uint8Array }>()
  const noted = new WeakSet<ToolError>()
  const marks = createMarks()
  const listing = options.visibility('list')

  function refuse(permission: Permission, path: string, error: ToolError): ToolError {
    if (noted.has(error)) return error
    noted.add(error)
    const key = `${permission} ${path} ${error.code}`
    if (refusing.has(error.code) && !refusals.has(key) && refusals.size < MAX_REFUSALS) {
      refusals.set(key, { permission, path: path.slice(0, 300), code: error.code, message: error.message })
    }
    return error
  }

  /** Does something on behalf of an access; what refuses it is noted. */
  async function attempt<T>(permission: Permission, path: string, action: () => Promise<T>): Promise<T> {
    if (signal.aborted) throw new ToolError('ABORTED', 'The command was stopped')
    try {
      return await action()
    } catch (error) {
      throw error instanceof ToolError ? refuse(permission, path, error) : error
    }
  }

  /** Guards and judges one access under all of its names. */
  async function reach(access: Access): Promise<GuardedAccess> {
    const judgeOne = (one: GuardedAccess) => {
      try {
        judge(one)
      } catch (error) {
        throw error instanceof ToolError ? refuse(one.permission, one.asked, error) : error
      }
    }
    const guarded = await guardAccesses(backend, [access], judgeOne)
    for (const one of guarded) judgeOne(one)
    return guarded[0] as GuardedAccess
  }

  function note(...reached: readonly GuardedAccess[]): void {
    for (const access of reached) accesses.set(`${access.permission} ${access.asked} ${access.path}`, access)
  }

  const commit = (...changes: readonly Change[]) => backend.commit(changes, { durability: 'relaxed', signal })

  /** Whether a name shows, by both of its names. */
  function shows(asked: LogicalPath, path: Path, type: EntryType): boolean {
    return path === ROOT || (listing.see(path, type) && (asked === path || listing.see(asked as Path, type)))
  }

  async function visible(path: string, noFollow = false): Promise<CommandStat | undefined> {
    let isHidden = false
    const [access] = await guardAccesses(backend, [{ permission: 'file:info', path, noFollow: noFollow }], (one) => {
      isHidden = !shows(one.asked, one.path, 'file')
    }).catch((error: unknown) => {
      if (isHidden) return []
      throw error
    })
    if (access === undefined) return undefined
    const stat = await backend.stat(access.path)
    if (stat === undefined || !shows(access.asked, access.path, stat.type)) return undefined
    // That a protected file exists may be told, and neither its size nor its time.
    if (access.classification.redacted) return { path: access.path, type: stat.type, size: 0, tag: access.path }
    return { ...stat, path: access.path }
  }

  async function requireParent(path: Path): Promise<void> {
    const parent = parentOf(path)
    if (parent === ROOT) return
    // A path through a file was refused where it was followed.
    if ((await backend.stat(parent))?.type === 'directory') return
    throw new ToolError('NOT_FOUND', `Cannot create ${quote(path)}: its directory is not there`, { path })
  }

  /** Everything below a directory, hidden names too, parents first. */
  async function descendants(start: Path): Promise<{ path: Path; type: EntryType }[]> {
    const found: { path: Path; type: EntryType }[] = []
    const waiting: Path[] = [start]
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      for (const { name, type } of await backend.list(directory)) {
        const path = childOf(directory, name)
        found.push({ path, type })
        if (type === 'directory') waiting.push(path)
        if (found.length > limits.treeEntries) {
          throw new ToolError('LIMIT_EXCEEDED', `${quote(start)} holds more than ${limits.treeEntries} entries`, {
            path: start,
          })
        }
      }
    }
    return found
  }

  const files: TrackedCommandFiles = {
    get refusals() {
      return [...refusals.values()]
    },
    get accesses() {
      return [...accesses.values()]
    },
    readContents: given,
    refuse,

    reach: (access) =>
      attempt(access.permission === 'file:write' ? 'file:write:create' : access.permission, access.path, async () => {
        note(await reach(access))
      }),

    async apply(changes) {
      const reached: GuardedAccess[] = []
      for (const { path, to, expect } of changes) {
        const permission =
          to === null ? 'file:delete' : expect === 'absent' ? 'file:write:create' : 'file:write:replace'
        // Nobody named it: that it is there must not be told.
        if (!listing.see(path, 'file') && !listing.see(path, 'directory')) {
          throw refuse(permission, '.', new ToolError('POLICY_DENIED', 'A file that policy hides would be changed'))
        }
        await attempt(permission, path, async () => {
          reached.push(await reach({ permission, path, noFollow: true }))
        })
      }
      await commit(...changes)
      note(...reached)
    },

    show: (path, stored) =>
      attempt('file:read', path, async () => {
        const access = await reach({ permission: 'file:read', path })
        options.onRead(access.path, stored.length)
        return marks.hide(stored, access.path)
      }),

    stat: (path, how) => visible(path, how?.noFollow),

    async list(path) {
      const stat = await visible(path)
      if (stat === undefined) throw new ToolError('NOT_FOUND', `${quote(path)} does not exist`, { path })
      const entries = await backend.list(stat.path)
      return entries.filter(({ name, type }) => listing.see(childOf(stat.path, name), type))
    },

    read: (path) =>
      attempt('file:read', path, async () => {
        const access = await reach({ permission: 'file:read', path })
        const stat = await backend.stat(access.path)
        requireFile(access.path, stat)
        if (stat.size > limits.fileBytes) {
          throw new ToolError('LIMIT_EXCEEDED', `${quote(path)} has ${stat.size} bytes, over the limit`, {
            path,
            limit: 'commandFileBytes',
            value: limits.fileBytes,
          })
        }
        const { bytes } = await backend.read(access.path)
        options.onRead(access.path, bytes.length)
        const shown = marks.hide(bytes, access.path)
        given.set(access.path, { stored: bytes, shown })
        return shown
      }),

    async readLink(path) {
      const stat = await visible(path, true)
      if (stat?.type === 'link') return backend.readLink(stat.path)
      throw new ToolError(stat === undefined ? 'NOT_FOUND' : 'INVALID_INPUT', `${quote(path)} is no link`, { path })
    },

    async realPath(path) {
      const stat = await visible(path)
      if (stat === undefined) throw new ToolError('NOT_FOUND', `${quote(path)} does not exist`, { path })
      return stat.path
    },

    write: (path, bytes, how = {}) =>
      attempt('file:write:replace', path, async () => {
        const there = how.append ? await appendable(backend, path) : undefined
        const access = await reach({ permission: there === undefined ? 'file:write' : 'file:append', path })
        const stat = await backend.stat(access.path)
        if (stat === undefined) await requireParent(access.path)
        else requireFile(access.path, stat)
        const restored = marks.restore(bytes, access.path)
        const before = there === undefined ? undefined : (await backend.read(access.path)).bytes
        const whole = before === undefined ? restored : concatBytes([before, restored])
        if (whole.length > limits.fileBytes) {
          throw new ToolError('LIMIT_EXCEEDED', `${quote(path)} would have ${whole.length} bytes, over the limit`, {
            path,
            limit: 'commandFileBytes',
            value: limits.fileBytes,
          })
        }
        const to = {
          type: 'file',
          bytes: whole,
          ...(how.mode === undefined ? {} : { mode: how.mode }),
          ...(before === undefined ? {} : { sharedPrefix: before.length }),
        } as const
        await commit({ path: access.path, expect: 'any', to })
        note(access)
      }),

    makeDirectory: (path) =>
      attempt('file:write:create', path, async () => {
        const access = await reach({ permission: 'file:write:create', path })
        if ((await backend.stat(access.path)) !== undefined || access.path === ROOT) {
          throw new ToolError('ALREADY_EXISTS', `${quote(path)} already exists`, { path })
        }
        await requireParent(access.path)
        await commit({ path: access.path, expect: 'any', to: { type: 'directory' } })
        note(access)
      }),

    remove: (path) =>
      attempt('file:delete', path, async () => {
        const access = await reach({ permission: 'file:delete', path, noFollow: true })
        if (access.path === ROOT) throw new ToolError('POLICY_DENIED', 'The root of the workspace stays', { path })
        const stat = await backend.stat(access.path)
        if (stat === undefined) throw new ToolError('NOT_FOUND', `${quote(path)} does not exist`, { path })
        const below = stat.type === 'directory' ? await descendants(access.path) : []
        // What is in it is judged before anything of it goes.
        const taken = [access]
        for (const one of below) taken.push(await reach({ permission: 'file:delete', path: one.path, noFollow: true }))
        await commit(...taken.map((one) => ({ path: one.path, expect: 'any', to: null }) as const))
        note(...taken)
      }),

    rename: (from, to) =>
      attempt('file:move', from, async () => {
        const source = await reach({ permission: 'file:move', path: from, noFollow: true })
        const target = await reach({ permission: 'file:move', path: to, noFollow: true })
        if (source.path === target.path) return
        const stat = await backend.stat(source.path)
        if (stat === undefined) throw new ToolError('NOT_FOUND', `${quote(from)} does not exist`, { path: from })
        if (source.path === ROOT || isWithin(target.path, source.path)) {
          throw new ToolError('INVALID_INPUT', `Cannot move ${quote(from)} into itself`, { path: from })
        }
        await requireParent(target.path)
        const reached = [source, target]
        const there = await backend.stat(target.path)
        if (there !== undefined) reached.push(await replaceable(stat, there, target.path, to))
        const changes: Change[] = [...(await moved(source.path, target.path, there, stat))]
        for (const { path } of stat.type === 'directory' ? await descendants(source.path) : []) {
          const newPath = `${target.path}${path.slice(source.path.length)}` as Path
          reached.push(await reach({ permission: 'file:move', path, noFollow: true }))
          reached.push(await reach({ permission: 'file:move', path: newPath, noFollow: true }))
          changes.push(...(await moved(path, newPath)))
        }
        await commit(...changes)
        note(...reached)
      }),

    link: (path, target) =>
      attempt('file:write:create', path, async () => {
        const access = await reach({ permission: 'file:write:create', path, noFollow: true })
        if ((await backend.stat(access.path)) !== undefined) {
          throw new ToolError('ALREADY_EXISTS', `${quote(path)} already exists`, { path })
        }
        await requireParent(access.path)
        // Whoever may not read a file may not give it another name.
        const leadsTo = linkTarget(access.path, target)
        if (leadsTo !== '') await reach({ permission: 'file:read', path: leadsTo })
        await commit({ path: access.path, expect: 'absent', to: { type: 'link', target } })
        note(access)
      }),

    setMode: (path, mode) =>
      attempt('file:write:replace', path, async () => {
        const access = await reach({ permission: 'file:write:replace', path })
        const state = await stateAt(backend, access.path)
        if (state === null) throw new ToolError('NOT_FOUND', `${quote(path)} does not exist`, { path })
        // Directories have no bits of their own here.
        if (state.type !== 'file' || state.mode === mode || !backend.capabilities.modes) return
        await commit({ path: access.path, expect: 'any', to: { ...state, mode } })
        note(access)
      }),

    walk: (path, filters) =>
      attempt('file:search', path, async () => {
        const access = await reach({ permission: 'file:search', path })
        const sight = options.visibility('search')
        const stat = await backend.stat(access.path)
        if (stat?.type === 'file') {
          await reach({ permission: 'file:read', path })
          return [access.path]
        }
        return visibleFiles(backend, access.path, { filters, ...sight, links: false, signal })
      }),

    async scan(paths, query, visit) {
      const look = (path: Path, stored: Uint8Array): boolean => {
        if (signal.aborted) throw new ToolError('ABORTED', 'The command was stopped')
        if (query !== undefined && !query.mayMatch(stored)) return true
        options.onRead(path, stored.length)
        return visit(path, marks.hide(stored, path))
      }
      if (backend.scan !== undefined) return backend.scan(paths, look)
      for (const path of paths) {
        if ((await backend.stat(path))?.type !== 'file') continue
        if (!look(path, (await backend.read(path)).bytes)) return
      }
    },
  }

  /** What gives way to something that is moved there: a file to a file, an empty directory to a directory. */
  async function replaceable(stat: Stat, there: Stat, path: Path, named: string): Promise<GuardedAccess> {
    const [isDirectory, wasDirectory] = [stat.type === 'directory', there.type === 'directory']
    if (wasDirectory && !isDirectory) throw new ToolError('IS_DIRECTORY', `${quote(named)} is a directory`, { path })
    if (isDirectory && !wasDirectory)
      throw new ToolError('NOT_A_DIRECTORY', `${quote(named)} is not a directory`, { path })
    if (wasDirectory && (await backend.list(path)).length > 0) {
      throw new ToolError('DIRECTORY_NOT_EMPTY', `${quote(named)} is not empty`, { path })
    }
    return reach({ permission: 'file:write:replace', path: named, noFollow: true })
  }

  async function moved(from: Path, to: Path, there?: Stat, stat?: Stat): Promise<Change[]> {
    const state = await stateAt(backend, from)
    if (state === null) throw new ToolError('PATH_REJECTED', `${quote(from)} is no ordinary file`, { path: from })
    const gone: Change = { path: from, expect: stat === undefined ? 'any' : { tag: stat.tag }, to: null }
    const expect = there === undefined ? 'absent' : ({ tag: there.tag } as const)
    return [gone, { path: to, expect, to: state, from }]
  }

  return files
}

/** The path of a file that can be added to. */
async function appendable(backend: Backend, path: string): Promise<Path | undefined> {
  const canonical = await backend.canonical(parsePath(path))
  return (await backend.stat(canonical))?.type === 'file' ? canonical : undefined
}
