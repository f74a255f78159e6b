/** Returns a program and its arguments as one command line. For `bash -lc SCRIPT` and the like, returns the script. */
export function commandLine(command: readonly string[]): string {
  const [program = '', flag = '', script, ...more] = command
  const isScript = shells.has(program) && /^-l?c$/.test(flag) && script !== undefined && more.length === 0
  return isScript ? script : command.map(quoteArgument).join(' ')
}

const shells: ReadonlySet<string> = new Set(['bash', 'sh', '/bin/bash', '/bin/sh', '/usr/bin/bash', '/usr/bin/sh'])

function quoteArgument(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`
}
