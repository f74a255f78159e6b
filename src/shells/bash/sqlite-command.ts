import type { Command } from 'just-bash'
import { nodeModule } from '../../util/node-module.ts'

/** Whether this runtime has threads of Node. */
export const mayHaveSqlite = (): boolean => nodeModule('worker_threads') !== undefined

/** `sqlite3`, which needs a thread of Node and the file that it runs. Both are missing in browsers, in workers and in most bundles. */
export function sqliteCommand(): Command {
  return {
    name: 'sqlite3',
    async execute(args, { origCommand }) {
      const end = args.indexOf('--')
      const options = end === -1 ? args : args.slice(0, end)
      // The interpreter loads the library for the version, outside of the thread that has its WebAssembly.
      const words = options.includes('-version') ? [':memory:', 'select sqlite_version()'] : args
      const result = mayHaveSqlite() ? await origCommand?.(words) : undefined
      return result === undefined || result.stderr.includes('sqlite3 worker failed to load') ? missing : result
    },
  }
}

const missing = {
  stdout: '',
  stderr: 'sqlite3: command not found: it needs Node and the files of the installed package\n',
  exitCode: 127,
}
