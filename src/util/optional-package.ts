import { type ErrorCode, ToolError } from '../errors.ts'
import { reasonOf } from './load-part.ts'

/** Throws an error again. Bundlers take `await import()` within `try` as that of a package which may be absent. */
export function rethrow(error: unknown): never {
  throw error
}

type Load = () => Promise<unknown>

const bundled = new Map<string, Load>()

/** Registers packages that this program contains. They are used instead of installed ones, whatever is installed. */
export function registerBundledPackages(packages: Readonly<Record<string, Load>>): void {
  for (const [name, load] of Object.entries(packages)) bundled.set(name, load)
}

/**
 * Loads an optional package. The caller passes the import, so that bundlers find it.
 *
 * @throws ToolError `SHELL_UNAVAILABLE`, or `code`, that names the package and how to install it, or why an installed one
 * failed to load; the error of the import is its cause
 */
export async function optionalPackage<P>(
  name: string,
  user: string,
  load: () => Promise<P>,
  code: ErrorCode = 'SHELL_UNAVAILABLE',
): Promise<P> {
  try {
    return (await (bundled.get(name) ?? load)()) as P
  } catch (cause) {
    const isAbsent = isMissing(cause, name)
    const problem = isAbsent ? 'which is not installed' : `which failed to load: ${reasonOf(cause)}`
    const hint = isAbsent ? `Ask the user to install it: npm install ${name}` : 'Report this to the user.'
    throw new ToolError(code, `${user} needs the package ${name}, ${problem}`, { hint }, { cause })
  }
}

/**
 * Returns whether an import failed because this package was not found, and not one that it needs itself. Platforms and bundlers
 * have no error of their own for that, but their messages quote the specifier first: "Cannot find package 'x' imported from …",
 * "Cannot find module 'x'", "Failed to resolve module specifier 'x'", "Could not resolve "x" imported by …".
 */
export function isMissing(error: unknown, name: string): boolean {
  const text = error instanceof Error ? error.message : ''
  const [, specifier = ''] = /(?:cannot find|resolve|import)\D{0,40}?["'`]([^"'`]+)["'`]/i.exec(text) ?? []
  return specifier === name || specifier.startsWith(`${name}/`)
}
