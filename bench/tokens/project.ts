import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const sample = join(import.meta.dirname, '../../playground/projects/samples/price-list')

/** The file with the fault, and the line that mends it. */
export const SOURCE = 'src/price.js'
export const FAULT = 'Math.floor('
export const MENDED = 'Math.round('

/** A copy of the sample project with a failing test, in a repository of its own. */
export function project(): string {
  const root = mkdtempSync(join(tmpdir(), 'wardspace-tokens-'))
  cpSync(sample, root, { recursive: true })
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root, stdio: 'ignore' })
  git('init', '-q')
  git('add', '.')
  git('commit', '-q', '-m', 'start')
  return root
}
