import { checkLimit } from '../limits.ts'
import type { Rates } from '../policy/rate-limits.ts'

/** Bytes of the largest content: the longest string of V8, because rules and hooks see content as text. */
const MAX_CONTENT_BYTES = 2 ** 29 - 24

/** The rates of the run to which files belong. */
export const ratesOf = new WeakMap<object, Rates>()

/**
 * Reserves the bytes by which content in memory grows, before the memory is taken.
 *
 * @param size all bytes of the content then
 * @throws ToolError `LIMIT_EXCEEDED`
 */
export function holdContent(rates: Rates | undefined, size: number, growth: number): void {
  checkLimit('content size in bytes', size, MAX_CONTENT_BYTES)
  rates?.holdWrite(growth)
}

/** Refuses content that a call cannot write, before it is copied. @throws ToolError `LIMIT_EXCEEDED` */
export function checkContent(rates: Rates | undefined, { length }: Uint8Array): void {
  holdContent(rates, length, length)
  rates?.holdWrite(-length)
}
