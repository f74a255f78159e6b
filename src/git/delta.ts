import { applyGitDelta, type DeltaErrors } from '../patch/git-delta.ts'
import { corrupt, TooLargeError } from './corrupt-error.ts'

/** The largest object that is read. A delta needs its base and its result at the same time. */
export const MAX_OBJECT_BYTES = 128 * 1024 * 1024

const ERRORS: DeltaErrors = { damaged: corrupt, tooLarge: () => new TooLargeError('an object') }

/**
 * Applies a delta of a pack to its base.
 *
 * @throws ToolError `BACKEND_ERROR` for a damaged delta
 */
export function applyDelta(base: Uint8Array, delta: Uint8Array): Uint8Array {
  return applyGitDelta(base, delta, MAX_OBJECT_BYTES, ERRORS)
}
