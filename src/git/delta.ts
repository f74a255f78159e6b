import { applyGitDelta, type DeltaErrors } from '../patch/git-delta.ts'
import { corrupt } from './corrupt-error.ts'

/** Larger objects do not fit into one array on every platform. */
export const MAX_OBJECT_BYTES = 1024 * 1024 * 1024

const ERRORS: DeltaErrors = { damaged: corrupt, tooLarge: () => corrupt('an object is too large') }

/**
 * Applies a delta of a pack to its base.
 *
 * @throws ToolError `BACKEND_ERROR` for a damaged delta
 */
export function applyDelta(base: Uint8Array, delta: Uint8Array): Uint8Array {
  return applyGitDelta(base, delta, MAX_OBJECT_BYTES, ERRORS)
}
