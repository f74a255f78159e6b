import { execFile } from 'node:child_process'
import { join } from 'node:path'

/** The built command line. */
export const main = join(import.meta.dirname, '../../dist/cli/main.js')

export interface CliResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface CliOptions {
  readonly cwd?: string
  /** Environment variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

/** Runs the built command line, without colours. */
export function runCli(words: readonly string[], { cwd, env, stdin }: CliOptions = {}): Promise<CliResult> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, NO_COLOR: '1', ...env }, cwd, timeout: 60_000 }
    const child = execFile(process.execPath, [main, ...words], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
    })
    if (stdin !== undefined) child.stdin?.end(stdin)
  })
}
