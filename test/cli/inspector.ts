import { execFile } from 'node:child_process'
import { join } from 'node:path'

const inspector = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/inspector-cli/build/index.js')

/** Runs the inspector's command line against a server, given as a command or an address. */
export function inspect(
  server: readonly string[],
  method: string,
  more: readonly string[] = [],
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  // The inspector expects its own package.json in the current directory.
  const options = { cwd: join(import.meta.dirname, '..'), timeout: 120_000 }
  const words = [inspector, ...server, '--method', method, ...more]
  return new Promise((resolve) => {
    execFile(process.execPath, words, options, (_error, stdout, stderr) => resolve({ stdout, stderr }))
  })
}
