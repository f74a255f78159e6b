import type { Answer } from '../runtime/types.ts'

/** Returns a success in the harness's form. */
export function succeeded(output: string): Answer {
  return { output: { success: true, output, error: null } }
}

/** Returns the result of a command that ran and failed. */
export function failed(output: string, error: string): Answer {
  return { output: { success: false, output: output === '' ? null : output, error }, isError: true }
}
