/**
 * How a container's shell is given a line so that the directory in which it ends comes back beside the output, which could
 * pretend anything. What that shell understands is not written down anywhere, so it is tried.
 */
export interface Wrapper {
  readonly name: string
  /** The script for a line. `report` is the absolute path of the file for the directory. */
  wrap(line: string, report: string): string
}

/** Also where the line ends by `exit`, as in bash. */
const byTrap: Wrapper = {
  name: 'trap',
  wrap: (line, report) => `trap 'pwd -P > ${report}' EXIT\neval ${quoted(line)}`,
}

const byStatus: Wrapper = {
  name: 'status',
  // The empty line ends one that ends in a backslash.
  wrap: (line, report) => `${line}\n\nwardspace_status=$?\npwd > ${report}\nexit $wardspace_status`,
}

/** The line as it is: where it ends is not told. */
export const unwrapped: Wrapper = { name: 'none', wrap: (line) => line }

/** The best first. */
export const wrappers: readonly Wrapper[] = [byTrap, byStatus]

/** A line that shows whether a wrapper works: it ends in a directory that it changes to, with a code of its own. */
export const TRIAL = 'cd /\nfalse'
export const TRIAL_DIRECTORY = '/'
export const TRIAL_CODE = 1

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
