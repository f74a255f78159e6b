/** Returns a program and its arguments as one command line. For `bash -lc SCRIPT` and the like, returns the script. */
export function commandLine(command: readonly string[]): string {
  return scriptOf(command) ?? command.map(quoteArgument).join(' ')
}

/** A patch that a command applies, and the directory to which it changes first. */
export interface PatchCommand {
  readonly patch: string
  readonly directory: string | undefined
}

/**
 * Returns the patch of a command that only applies one: `["apply_patch", PATCH]`, or a script of `apply_patch` with a heredoc,
 * also after `cd DIRECTORY &&`. The shell has no such program, so it would fail there.
 */
export function patchCommandOf(command: readonly string[]): PatchCommand | undefined {
  const [program = '', patch] = command
  if (command.length === 2 && /^apply_?patch$/.test(program) && patch !== undefined) {
    return { patch, directory: undefined }
  }
  const match = PATCH_SCRIPT.exec(scriptOf(command) ?? '')
  if (match === null) return undefined
  const [, single, double, plain, , delimiter, body = ''] = match
  if (body.split(/\r?\n/).some((row) => row === delimiter)) return undefined
  return { patch: body, directory: single ?? double ?? plain }
}

const PATCH_SCRIPT =
  /^\s*(?:cd\s+(?:'([^']+)'|"([^"$`\\]+)"|([\w@%+=:,./][\w@%+=:,./-]*))\s*&&\s*)?apply_?patch\s*<<\s*(['"]?)(\w+)\4[ \t]*\r?\n([\s\S]*)\n\5\s*$/

/** Returns the script of `bash -lc SCRIPT` and the like. */
function scriptOf([program = '', ...flagsAndScript]: readonly string[]): string | undefined {
  const flags = flagsAndScript.slice(0, -1).join(' ')
  return shells.has(program) && /^(?:-l?c|(?:-l|--login) -c)$/.test(flags) ? flagsAndScript.at(-1) : undefined
}

const shells: ReadonlySet<string> = new Set(['bash', 'sh', '/bin/bash', '/bin/sh', '/usr/bin/bash', '/usr/bin/sh'])

function quoteArgument(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`
}
