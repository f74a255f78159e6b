/**
 * Wraps a line so that the container's shell writes the directory in which it ends to a file, because the output cannot be
 * trusted. The syntax that this shell supports is undocumented, so wrappers are tested before use.
 */
export interface Wrapper {
  readonly name: string
  /** Returns the script for a line. `report` is the absolute path of the file for the directory. */
  wrap(line: string, report: string): string
}

/** Also reports the directory of a line that ends with `exit`. */
const byTrap: Wrapper = {
  name: 'trap',
  wrap: (line, report) => `trap 'pwd -P > ${report}' EXIT\neval ${quote(line)}`,
}

const byStatus: Wrapper = {
  name: 'status',
  // The empty line ends a line whose last character is a backslash.
  wrap: (line, report) => `${line}\n\nwardspace_status=$?\npwd > ${report}\nexit $wardspace_status`,
}

/** Leaves the line unchanged; its final directory is not reported. */
export const unwrapped: Wrapper = { name: 'none', wrap: (line) => line }

/** All wrappers, the best first. */
export const wrappers: readonly Wrapper[] = [byTrap, byStatus]

/** Line that tests a wrapper: it must end in another directory and with a specific exit code. */
export const TRIAL = 'cd /\nfalse'
export const TRIAL_DIRECTORY = '/'
export const TRIAL_CODE = 1

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
