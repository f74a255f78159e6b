import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the benign lines of the corpus. */
export function benignLines(): string[] {
  return readFileSync(join(import.meta.dirname, 'benign.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replaceAll('⏎', '\n'))
}
