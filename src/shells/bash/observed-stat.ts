import type { FsStat } from 'just-bash'
import type { Path } from '../../paths/logical-path.ts'

/** A stat of just-bash. */
export interface EntryStat extends FsStat {
  /** The paths of a file of the workspace, as named and canonical. Its size, permission bits and time can have a label. */
  readonly paths?: readonly Path[]
}

/** The property of an observed stat that holds the plain one. */
const PLAIN = Symbol('plain stat')

/**
 * Returns a stat that calls `note` when its size, its permission bits or its time is used for the first time. Most programs
 * use only the type.
 */
export function observeStat(stat: EntryStat, note: (paths: readonly Path[]) => void): FsStat {
  const { paths, ...observed } = stat
  if (paths === undefined) return stat
  let isNoted = false
  for (const name of ['size', 'mode', 'mtime'] as const) {
    Object.defineProperty(observed, name, {
      enumerable: true,
      get: () => {
        if (!isNoted) note(paths)
        isNoted = true
        return stat[name]
      },
    })
  }
  return Object.defineProperty(observed, PLAIN, { value: stat })
}

/** A stat as it is sent to another thread: plain values, since a date of another realm is not cloned as a date. */
export function sentStat(stat: FsStat): object {
  const plain = (stat as { readonly [PLAIN]?: EntryStat })[PLAIN] ?? stat
  return { ...plain, mtime: plain.mtime.getTime() }
}

/** Restores a stat from another thread. */
export function receivedStat(stat: object, note: (paths: readonly Path[]) => void): FsStat {
  return observeStat({ ...(stat as EntryStat), mtime: new Date((stat as { mtime: number }).mtime) }, note)
}
