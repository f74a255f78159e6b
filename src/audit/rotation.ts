import { type Dirent, readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/** Returns the rotated files of an audit file, oldest first: `FILE.1`, `FILE.2`, … */
export function rotatedFiles(file: string): readonly string[] {
  return numbers(file, (entry) => entry.isFile()).map((number) => `${file}.${number}`)
}

/** Returns the name for the next rotation. */
export function nextRotated(file: string): string {
  return `${file}.${(numbers(file, () => true).at(-1) ?? 0) + 1}`
}

function numbers(file: string, isIncluded: (entry: Dirent) => boolean): number[] {
  const prefix = `${basename(file)}.`
  let entries: Dirent[]
  try {
    entries = readdirSync(dirname(file), { withFileTypes: true })
  } catch {
    return []
  }
  return entries
    .filter((entry) => entry.name.startsWith(prefix) && /^[1-9]\d{0,8}$/.test(entry.name.slice(prefix.length)))
    .filter(isIncluded)
    .map(({ name }) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b)
}
