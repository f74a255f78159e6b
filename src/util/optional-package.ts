import { ToolError } from '../errors.ts'

/**
 * Loads an optional package. The caller passes the import, so that bundlers find it.
 *
 * @throws ToolError `SHELL_UNAVAILABLE` that names the package and how to install it
 */
export async function optionalPackage<P>(name: string, user: string, load: () => Promise<P>): Promise<P> {
  try {
    return await load()
  } catch {
    throw new ToolError('SHELL_UNAVAILABLE', `${user} needs the package ${name}, which cannot be loaded`, {
      hint: `Ask the user to install it: npm install ${name}`,
    })
  }
}
