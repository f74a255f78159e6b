import { ToolError } from '../errors.ts'

/**
 * Loads a part of this package on first use.
 *
 * @throws ToolError `SHELL_UNAVAILABLE` with the reason
 */
export async function loadPart<P>(name: string, load: () => Promise<P>): Promise<P> {
  try {
    return await load()
  } catch (cause) {
    const message = `Cannot load ${name}: ${reasonOf(cause)}`
    throw new ToolError('SHELL_UNAVAILABLE', message, { hint: 'Report this to the user.' }, { cause })
  }
}

/** Returns the message of an error, on one line of at most 200 characters. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/\s+/g, ' ').trim().slice(0, 200)
}
