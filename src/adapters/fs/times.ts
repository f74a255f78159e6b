import type { FileStat } from '../../workspace/files.ts'
import { fsError } from './errors.ts'
import type { FsTarget } from './target.ts'

/** A time as `utimes` takes it: seconds since 1970, or a date. */
export type FsTime = number | string | Date

/** The times of an entry, in milliseconds since 1970. */
export interface EntryTimes {
  readonly atimeMs: number
  readonly mtimeMs: number
}

type Entry = Pick<FileStat, 'path' | 'tag'>

/** Most entries with times of their own. */
const MAX_ENTRIES = 100_000

/**
 * The times that programs set. No storage keeps them: they count for all file systems of a workspace or a run, until the entry
 * changes or the process ends.
 */
export class FileTimes {
  static readonly #ofTarget = new WeakMap<FsTarget, FileTimes>()
  readonly #entries = new Map<string, EntryTimes & Pick<Entry, 'tag'>>()

  /** Returns the times of a workspace or a run. */
  static of(target: FsTarget): FileTimes {
    const known = FileTimes.#ofTarget.get(target) ?? new FileTimes()
    FileTimes.#ofTarget.set(target, known)
    return known
  }

  /** Returns the times of an entry that has not changed since they were set. */
  get({ path, tag }: Entry): EntryTimes | undefined {
    const times = this.#entries.get(path)
    if (times === undefined || times.tag === tag) return times
    this.#entries.delete(path)
    return undefined
  }

  /** @throws FsError `ENOSPC` if too many entries have times of their own */
  set({ path, tag }: Entry, times: EntryTimes, syscall: string, shown?: string): void {
    if (this.#entries.size >= MAX_ENTRIES && !this.#entries.has(path)) throw fsError('ENOSPC', syscall, shown)
    this.#entries.set(path, { ...times, tag })
  }

  /** Drops the times of an entry and of everything below it: a new entry at such a path may have the same version. */
  forget({ path, type }: Pick<FileStat, 'path' | 'type'>): void {
    this.#entries.delete(path)
    if (type !== 'directory') return
    for (const other of this.#entries.keys()) if (other.startsWith(`${path}/`)) this.#entries.delete(other)
  }

  /** Runs a change after which an entry, at its new path, has the times that it had before. */
  async keep(look: (isAfter: boolean) => Promise<FileStat | undefined>, change: () => Promise<unknown>): Promise<void> {
    const before = this.#entries.size === 0 ? undefined : await look(false)
    const times = before && this.get(before)
    await change()
    if (before === undefined) return
    this.forget(before)
    const after = times && (await look(true))
    if (times !== undefined && after !== undefined) this.set(after, times, 'utime')
  }
}

/** Returns the times that a program passes. */
export function timesOf(accessed: FsTime, modified: FsTime): EntryTimes {
  const [atimeMs, mtimeMs] = [accessed, modified].map((time) =>
    time instanceof Date ? time.getTime() : Number(time) * 1000,
  ) as [number, number]
  return { atimeMs, mtimeMs }
}
