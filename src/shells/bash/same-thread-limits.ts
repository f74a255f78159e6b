import type { EngineLimits } from './node-emulation/engine.ts'
import { MAX_OUTPUT } from './run-line.ts'

const MEMORY_BYTES = 128 * 1024 * 1024

/** The bounds of a script that runs in the thread of whoever asks. */
export function sameThreadLimits(timeoutMs: number, signal: AbortSignal): EngineLimits {
  return { deadline: performance.now() + timeoutMs, memoryBytes: MEMORY_BYTES, outputBytes: MAX_OUTPUT, signal }
}
