import type { Command } from 'just-bash'

/** What this shell has instead of commands for which the interpreter has another message. */
const missing: Readonly<Record<string, string>> = {
  python: 'there is no Python in this shell; use node',
  python3: 'there is no Python in this shell; use node',
}

/** Commands that only say what this shell has instead. */
export function missingCommands(): Command[] {
  return Object.entries(missing).map(([name, hint]) => ({
    name,
    execute: async () => ({ stdout: '', stderr: `${name}: command not found: ${hint}\n`, exitCode: 127 }),
  }))
}
