import type { Command } from 'just-bash'
import { nodeModule } from '../../util/node-module.ts'

/** What this shell has instead of commands for which the interpreter has another message. */
const missing: Readonly<Record<string, string>> = {
  python: 'there is no Python in this shell; use node',
  python3: 'there is no Python in this shell; use node',
}

/** sqlite3 runs in a worker of Node. */
const missingWithoutNode: Readonly<Record<string, string>> = { sqlite3: 'it needs Node' }

/** Commands that only say what this shell has instead. */
export function missingCommands(): Command[] {
  const isNode = nodeModule('worker_threads') !== undefined
  return Object.entries({ ...missing, ...(isNode ? {} : missingWithoutNode) }).map(([name, hint]) => ({
    name,
    execute: async () => ({ stdout: '', stderr: `${name}: command not found: ${hint}\n`, exitCode: 127 }),
  }))
}
