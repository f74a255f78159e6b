import type { Path } from '../paths/logical-path.ts'

/** A version that a run was shown: all of it, or whole lines of it, from 1, both ends included. */
export interface ShownVersion {
  readonly path: Path
  readonly sha256: string
  readonly lines: 'all' | { readonly start: number; readonly end: number; readonly total: number }
}

/** Which versions one run was shown. A version is bound to its path: the same bytes elsewhere do not count. */
export interface ReadHistory {
  note(shown: ShownVersion): void
  /**
   * Notes a version that the run wrote. What it wrote whole, it has seen. With `from`, the version that it was made of
   * by an edit, it has seen the new one whole only if it had seen the old one whole.
   */
  wrote(path: Path, sha256: string, from?: string): void
  /** Notes that a version is at another path now as well: a move or a copy. What was seen of it counts there. */
  carried(from: Path, to: Path, sha256: string): void
  /** Whether any of that version was shown. */
  saw(path: Path, sha256: string): boolean
  /** Whether all of that version was shown, at once or in ranges. */
  hasReadWhole(path: Path, sha256: string): boolean
  /** The version of a path that was shown or written last. */
  latest(path: Path): string | undefined
  /** Every version that was shown, in the order of its path's first showing. */
  versions(): readonly { readonly path: Path; readonly sha256: string; readonly whole: boolean }[]
}

/** Versions of one path to remember: the latest. */
const MAX_VERSIONS = 64

/** Lines of a version: sorted, apart from each other, from 1, both ends included. `all` once they are all there. */
type Seen = 'all' | readonly (readonly [start: number, end: number])[]

/** The read ledger of one run. */
export function createReadHistory(): ReadHistory {
  const paths = new Map<Path, Map<string, Seen>>()

  const seen = (path: Path, sha256: string) => paths.get(path)?.get(sha256)

  function keep(path: Path, sha256: string, lines: Seen): void {
    let versions = paths.get(path)
    if (versions === undefined) {
      versions = new Map()
      paths.set(path, versions)
    }
    // Noted again, a version is the latest.
    versions.delete(sha256)
    versions.set(sha256, lines)
    if (versions.size > MAX_VERSIONS) {
      for (const oldest of versions.keys()) {
        versions.delete(oldest)
        break
      }
    }
  }

  return {
    note({ path, sha256, lines }) {
      const before = seen(path, sha256) ?? []
      keep(
        path,
        sha256,
        before === 'all' || lines === 'all' ? 'all' : withRange(before, lines.start, lines.end, lines.total),
      )
    },
    wrote(path, sha256, from) {
      const whole = from === undefined || seen(path, from) === 'all'
      keep(path, sha256, whole ? 'all' : (seen(path, sha256) ?? []))
    },
    carried(from, to, sha256) {
      const lines = seen(from, sha256)
      if (lines !== undefined && seen(to, sha256) !== 'all') keep(to, sha256, lines)
    },
    saw: (path, sha256) => seen(path, sha256) !== undefined,
    hasReadWhole: (path, sha256) => seen(path, sha256) === 'all',
    latest: (path) => [...(paths.get(path)?.keys() ?? [])].at(-1),
    versions: () =>
      [...paths].flatMap(([path, versions]) =>
        [...versions].map(([sha256, lines]) => ({ path, sha256, whole: lines === 'all' })),
      ),
  }
}

/** Adds lines, joined with what they touch. An empty range adds none; a version without lines is seen by any look. */
function withRange(before: readonly (readonly [number, number])[], first: number, last: number, total: number): Seen {
  let start = Math.max(1, first)
  let end = Math.min(total, last)
  const apart: (readonly [number, number])[] = []
  for (const range of start <= end ? before : []) {
    if (range[1] < start - 1 || range[0] > end + 1) {
      apart.push(range)
    } else {
      start = Math.min(start, range[0])
      end = Math.max(end, range[1])
    }
  }
  const ranges = start <= end ? [...apart, [start, end] as const].sort((a, b) => a[0] - b[0]) : before
  const [only] = ranges
  return total === 0 || (only !== undefined && only[0] <= 1 && only[1] >= total) ? 'all' : ranges
}
