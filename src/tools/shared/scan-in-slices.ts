import type { Path } from '../../paths/logical-path.ts'
import type { Stat } from '../../storage/backend.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { yieldToEventLoop } from '../../util/timers.ts'
import type { ToolContext } from '../define-tool.ts'

export interface ScanVisits {
  wants(path: Path, bytes: Uint8Array, size: number): boolean | undefined
  visit(path: Path, bytes: Uint8Array): boolean
  isLate(): boolean
}

/**
 * Visits the wanted bytes of many files in few calls, and lets timers and signals run now and then: over memory a scan
 * does not wait for anything. Ends when `visit` returns false. Gives false where it was too late to go on.
 *
 * @throws ToolError `ABORTED`
 */
export async function scanInSlices(
  { files, signal, progress }: Pick<ToolContext, 'files' | 'signal' | 'progress'>,
  paths: readonly Path[],
  { wants, visit, isLate }: ScanVisits,
): Promise<boolean> {
  let next = 0
  let isDone = false
  while (!isDone && next < paths.length) {
    throwIfAborted(signal, 'The search was cancelled')
    if (isLate()) return false
    const sliceEnd = performance.now() + SLICE_MS
    let isPaused = false
    let sinceLook = 0
    const wantsNow = (path: Path, bytes: Uint8Array, stat: Stat): boolean | undefined => {
      // Looking at the clock costs about as much as searching a small file.
      sinceLook += bytes.length + LOOK_BYTES / LOOK_FILES
      if (sinceLook >= LOOK_BYTES) {
        sinceLook = 0
        isPaused = performance.now() >= sliceEnd || isLate()
        if (isPaused) return undefined
      }
      // What is gone is passed over, so that the place in the list is found by its path.
      while (next < paths.length && paths[next] !== path) next += 1
      next += 1
      return wants(path, bytes, stat.size)
    }
    await files.scan(next === 0 ? paths : paths.slice(next), wantsNow, (path, bytes) => {
      isDone = signal?.aborted === true || !visit(path, bytes)
      return !isDone
    })
    throwIfAborted(signal, 'The search was cancelled')
    if (!isPaused) return true
    progress(next, 'files searched', paths.length)
    await yieldToEventLoop()
  }
  return true
}

/** How much is searched between two looks at the clock: bytes, or files. */
const LOOK_BYTES = 256 * 1024
const LOOK_FILES = 64

const SLICE_MS = 25
