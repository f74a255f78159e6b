import type { Answer } from '../runtime/types.ts'

/** Returns the answer of a call that succeeded. */
export function success(output: string): Answer {
  return { output: { success: true, output, error: null } }
}
