import { type ErrorCode, ToolError } from '../errors.ts'

type Load = () => Promise<unknown>

const bundled = new Map<string, Load>()

/** Registers packages that this program contains. They are used instead of installed ones, whatever is installed. */
export function registerBundledPackages(packages: Readonly<Record<string, Load>>): void {
  for (const [name, load] of Object.entries(packages)) bundled.set(name, load)
}

/**
 * Loads an optional package. The caller passes the import, so that bundlers find it.
 *
 * @throws ToolError `SHELL_UNAVAILABLE`, or `code`, that names the package and how to install it
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
    const message = `${user} needs the package ${name}, which cannot be loaded`
    throw new ToolError(code, message, { hint: `Ask the user to install it: npm install ${name}` }, { cause })
  }
}
