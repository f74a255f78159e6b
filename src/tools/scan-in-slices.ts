import { ToolError } from '../errors.ts'
import type { Path } from '../paths/logical-path.ts'
import type { ToolContext } from '../tool.ts'

/**
 * Visits the bytes of many files in few calls, and lets timers and signals run now and then: over memory a scan does
 * not wait for anything. Ends when `visit` returns false.
 *
 * @throws ToolError `ABORTED`
 */
export async function scanInSlices(
  { files, signal }: Pick<ToolContext, 'files' | 'signal'>,
  paths: readonly Path[],
  visit: (path: Path, bytes: Uint8Array, size: number) => boolean,
): Promise<void> {
  let next = 0
  let isDone = false
  while (!isDone && next < paths.length) {
    throwIfAborted(signal)
    const sliceEnd = performance.now() + SLICE_MS
    let isPaused = false
    await files.scan(next === 0 ? paths : paths.slice(next), (path, bytes, stat) => {
      // What is gone is passed over, so that the place in the list is found by its path.
      while (next < paths.length && paths[next] !== path) next += 1
      next += 1
      if (signal?.aborted || !visit(path, bytes, stat.size)) {
        isDone = true
        return false
      }
      isPaused = performance.now() >= sliceEnd
      return !isPaused
    })
    throwIfAborted(signal)
    if (!isPaused) return
    await nextTurn()
  }
}

const SLICE_MS = 25

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ToolError('ABORTED', 'The search was cancelled')
}

/** Taken when loaded: a shell may hide the timers of its commands later. `setImmediate` costs nothing where it exists. */
const later = (globalThis as { setImmediate?: (run: () => void) => void }).setImmediate ?? globalThis.setTimeout

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    later(() => resolve())
  })
}
