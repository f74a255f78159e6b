import type { Path } from '../paths/logical-path.ts'

/** Lines of one version of a file, from 1, both ends included, as they were shown: with their numbers or without. */
export interface ShownLines {
  readonly path: Path
  readonly sha256: string
  readonly startLine: number
  readonly endLine: number
  readonly lineNumbers: boolean
}

/** Which call of one run showed which lines last. */
export interface ReadLines {
  note(lines: ShownLines, callId: string): void
  /**
   * The call that showed all of these lines of this very version. `undefined` where none did, and where the run was shown
   * another version of the file or changed it since.
   */
  find(lines: ShownLines): string | undefined
  /** The run has changed the file. */
  forget(path: Path): void
}

/** What is remembered: of the latest files, the latest readings. */
const MAX_FILES = 1000
const MAX_READINGS = 64

/** The memory of one run; see {@link ReadLines}. */
export function createShownReads(): ReadLines {
  const files = new Map<Path, { readonly sha256: string; readonly shown: { lines: ShownLines; callId: string }[] }>()
  return {
    note(lines, callId) {
      const known = files.get(lines.path)
      const shown = known?.sha256 === lines.sha256 ? known.shown : []
      files.delete(lines.path)
      files.set(lines.path, { sha256: lines.sha256, shown: [...shown, { lines, callId }].slice(-MAX_READINGS) })
      const [oldest] = files.keys()
      if (files.size > MAX_FILES && oldest !== undefined) files.delete(oldest)
    },
    find({ path, sha256, startLine, endLine, lineNumbers }) {
      const known = files.get(path)
      if (known?.sha256 !== sha256) return undefined
      return known.shown.findLast(
        ({ lines }) => lines.lineNumbers === lineNumbers && lines.startLine <= startLine && lines.endLine >= endLine,
      )?.callId
    },
    forget: (path) => void files.delete(path),
  }
}
