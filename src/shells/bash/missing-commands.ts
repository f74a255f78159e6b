import type { Command, ExecResult } from 'just-bash'
import { mayHaveSqlite } from './sqlite-command.ts'

const NO_PYTHON = 'there is no Python in this shell; use node'

/** Commands for which the interpreter has another message. */
const replaced = ['python', 'python3']

/** What this shell has instead of common commands. */
const hints: ReadonlyMap<string, string> = new Map(
  (
    [
      [NO_PYTHON, [...replaced, 'pip', 'pip3']],
      ['this shell has no network; git clone reaches the hosts that policy names', ['curl', 'wget', 'ping']],
      ['there is no compiler in this shell; use node', ['gcc', 'g++', 'cc', 'clang', 'go', 'cargo', 'javac', 'java']],
      ['there is no make in this shell; run the commands of the target', ['make']],
      ['nothing can be installed in this shell', ['apt', 'apt-get', 'apk', 'brew', 'dnf', 'yum']],
      ['there are no containers in this shell', ['docker', 'podman', 'kubectl']],
    ] as const
  ).flatMap(([hint, names]) => names.map((name) => [name, hint] as const)),
)

/** Commands that only say what this shell has instead. */
export function missingCommands(): Command[] {
  return replaced.map((name) => ({
    name,
    execute: async () => withHint(name, { stdout: '', stderr: `${name}: command not found\n`, exitCode: 127 }),
  }))
}

/** Built-ins of bash that the interpreter lists and does not have, or that the analysis of a line refuses. */
export const absentBuiltins: ReadonlySet<string> = new Set(
  'alias bg caller compgen complete compopt disown enable fc fg jobs kill let logout suspend times ulimit umask unalias'.split(
    ' ',
  ),
)

/** Whether a command only says what this shell has instead, or is refused. */
export function isMissing(name: string): boolean {
  return replaced.includes(name) || absentBuiltins.has(name) || (name === 'sqlite3' && !mayHaveSqlite())
}

/** Adds what this shell has instead to the message about a command that does not exist. */
export function withHint(name: string, result: ExecResult): ExecResult {
  const hint = hints.get(name)
  const message = `${name}: command not found\n`
  if (hint === undefined || result.exitCode !== 127 || !result.stderr.endsWith(message)) return result
  return { ...result, stderr: `${result.stderr.slice(0, -1)}: ${hint}\n` }
}
