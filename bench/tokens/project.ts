import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const sample = join(import.meta.dirname, '../../playground/projects/samples/price-list')

/** The file with the fault, and the replacement that repairs it. */
export const SOURCE = 'src/price.js'
export const FAULT = 'Math.floor('
export const FIXED = 'Math.round('

const DATE = '2026-01-01T00:00:00Z'

/** Copies the sample project, which has a failing test, into a new git repository. Returns its directory. */
export function project(): string {
  const root = mkdtempSync(join(tmpdir(), 'wardspace-tokens-'))
  cpSync(sample, root, { recursive: true })
  // Fixed times give the same commit id, and so the same tokens, every time.
  const env = { ...process.env, GIT_AUTHOR_DATE: DATE, GIT_COMMITTER_DATE: DATE }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root, env, stdio: 'ignore' })
  git('init', '-q')
  git('add', '.')
  git('commit', '-q', '-m', 'start')
  return root
}
