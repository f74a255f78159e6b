import type { EngineLimits } from './node-emulation/script-context.ts'
import { MAX_OUTPUT } from './run-line.ts'

const MEMORY_BYTES = 128 * 1024 * 1024

/** The limits of a script that runs in the caller's thread. */
export function sameThreadLimits(timeoutMs: number, signal: AbortSignal): EngineLimits {
  return { deadline: performance.now() + timeoutMs, memoryBytes: MEMORY_BYTES, outputBytes: MAX_OUTPUT, signal }
}
