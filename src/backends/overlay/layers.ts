import { ToolError } from '../../errors.ts'
import { type LogicalPath, type Path, quote } from '../../paths/logical-path.ts'
import type { Backend, Stat } from '../../storage/backend.ts'
import { type ChangedPaths, RESERVED } from './changed-paths.ts'

/** The two backends of an overlay, and which of them has a path. */
export interface Layers {
  readonly lower: Backend
  readonly upper: Backend
  readonly touched: ChangedPaths
  /** `both`: a directory that shows the lower entries, with changes somewhere in it. */
  locate(path: Path): 'lower' | 'upper' | 'both'
  /** Returns a stat of the upper backend with a tag that the lower one never has. */
  fromUpper(stat: Stat): Stat
  /** Returns the tag of the upper backend for a tag from {@link Layers.fromUpper}. */
  upperTag(tag: string): string
  upperStat(path: Path): Promise<Stat | undefined>
  /** Returns the stat of a `both` directory. */
  mergedStat(path: Path, below: Stat | undefined, above: Stat | undefined): Stat | undefined
}

/** Overlays can be stacked, also with other backends in between, so each needs its own tags. */
let overlays = 0

/** Creates the layers of one overlay. */
export function createLayers(lower: Backend, upper: Backend, touched: ChangedPaths): Layers {
  overlays += 1
  const prefix = `o${overlays}:`
  const fromUpper = (stat: Stat): Stat => ({ ...stat, tag: prefix + stat.tag })

  return {
    lower,
    upper,
    touched,
    fromUpper,

    locate(path) {
      if (touched.size() === 0) return 'lower'
      if (touched.covers(path)) return 'upper'
      return touched.isAbove(path) ? 'both' : 'lower'
    },

    upperTag: (tag) => (tag.startsWith(prefix) ? tag.slice(prefix.length) : 'not of this layer'),

    async upperStat(path) {
      const stat = await upper.stat(path)
      return stat === undefined ? undefined : fromUpper(stat)
    },

    mergedStat(path, below, above) {
      if (below?.type !== 'directory') return above === undefined ? undefined : fromUpper(above)
      const modifiedAt = Math.max(below.modifiedAt ?? 0, above?.modifiedAt ?? 0)
      return {
        ...below,
        ...(below.modifiedAt === undefined ? {} : { modifiedAt }),
        tag: `${prefix}${below.tag}|${above?.tag ?? ''}|${touched.stamp(path)}`,
      }
    },
  }
}

/** Throws for the name that an overlay reserves. */
export function refuseReserved(path: LogicalPath): void {
  if (path !== RESERVED && !path.startsWith(`${RESERVED}/`)) return
  throw new ToolError('PATH_REJECTED', `Cannot use ${quote(path)}: the overlay reserves that name`, { path })
}
