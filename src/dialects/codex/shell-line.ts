/** A program with its arguments as one command line. The script of a shell is the line itself. */
export function lineOf(command: readonly string[]): string {
  const [program = '', flag = '', script, ...more] = command
  const isScript = shells.has(program) && /^-l?c$/.test(flag) && script !== undefined && more.length === 0
  return isScript ? script : command.map(quoted).join(' ')
}

const shells: ReadonlySet<string> = new Set(['bash', 'sh', '/bin/bash', '/bin/sh', '/usr/bin/bash', '/usr/bin/sh'])

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
