import type { Path } from '../../paths/logical-path.ts'
import type { Stat } from '../../storage/backend.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { withTimeout, yieldToEventLoop } from '../../util/timers.ts'
import type { BuiltinContext } from '../builtin-tool.ts'

export interface ScanVisitor {
  /** Larger files are not read. */
  readonly maxFileBytes: number
  /** Whether to visit a file. Gets its bytes, or none if its size is over `maxFileBytes`. `undefined` stops the scan. */
  wants(path: Path, bytes: Uint8Array, size: number): boolean | undefined
  /** Visits the whole content of a file. Returns false to stop the scan. */
  visit(path: Path, bytes: Uint8Array): boolean
  /** Milliseconds that are left for the scan; 0 or less when its time is over. */
  remainingMs(): number
}

/** Files of one call at most: each call checks what it is given, so that calls with all remaining files would take quadratic time. */
const SLICE_FILES = 4096

/**
 * Scans many files in few calls, and lets timers and signals run every 25 ms, unless the storage does: a scan of
 * memory never waits for anything. Every slice gets past its first file, however long that takes, unless its storage does not
 * answer in time. Returns false if the time was over before every file was scanned.
 *
 * @throws ToolError `ABORTED`
 */
export async function scanInSlices(
  { files, signal, progress }: Pick<BuiltinContext, 'files' | 'signal' | 'progress'>,
  paths: readonly Path[],
  visitor: ScanVisitor,
): Promise<boolean> {
  let next = 0
  let isDone = false
  const isDue = eventLoopWatch()
  while (!isDone && next < paths.length) {
    throwIfAborted(signal, 'The search was cancelled')
    if (visitor.remainingMs() <= 0) return false
    let isPaused = false
    let sinceCheck = 0
    let isFirst = true
    let isOver = false
    const wants = (path: Path, bytes: Uint8Array, stat: Stat): boolean | undefined => {
      if (isOver) return undefined
      // Reading the clock costs about as much as searching a small file.
      sinceCheck += bytes.length + CHECK_BYTES / CHECK_FILES
      if (sinceCheck >= CHECK_BYTES) {
        sinceCheck = 0
        // A file that takes longer than a slice to read would be the first of every further slice.
        isPaused = !isFirst && (isDue() || visitor.remainingMs() <= 0 || signal?.aborted === true)
        if (isPaused) return undefined
      }
      isFirst = false
      // The scan skips files that no longer exist, so the position in the list is found by path.
      while (next < paths.length && paths[next] !== path) next += 1
      next += 1
      const wanted = visitor.wants(path, bytes, stat.size)
      isDone ||= wanted === undefined
      return wanted
    }
    const visit = (path: Path, bytes: Uint8Array): boolean => {
      isDone = signal?.aborted === true || !visitor.visit(path, bytes)
      return !isDone
    }
    const end = next + SLICE_FILES
    const scan = files.scan(paths.slice(next, end), wants, visit, visitor.maxFileBytes)
    try {
      await withTimeout(scan, visitor.remainingMs(), () => LATE)
    } catch (error) {
      if (error !== LATE) throw error
      isOver = true
      return false
    }
    throwIfAborted(signal, 'The search was cancelled')
    if (!isPaused) next = Math.max(next, end)
    if (isDone || next >= paths.length) return true
    progress(next, 'files searched', paths.length)
    await yieldToEventLoop()
  }
  return true
}

/** Returns a function that tells whether timers and signals wait for `SLICE_MS`. Some storages let them run during a scan. */
function eventLoopWatch(): () => boolean {
  /** When they have waited too long, or 0 if they have run. */
  let end = 0
  return () => {
    const now = performance.now()
    if (end === 0) {
      end = now + SLICE_MS
      void yieldToEventLoop().then(() => {
        end = 0
      })
    }
    return now >= end
  }
}

/** The clock is read after this many bytes or files. */
const CHECK_BYTES = 256 * 1024
const CHECK_FILES = 64

const SLICE_MS = 25

/** The storage did not answer in time. */
const LATE = new Error()
