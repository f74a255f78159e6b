import { type Dirent, readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/** The files that an audit file was rotated into, the oldest first: `FILE.1`, `FILE.2`, … */
export function rotatedFiles(file: string): readonly string[] {
  return numbers(file, (entry) => entry.isFile()).map((number) => `${file}.${number}`)
}

/** The name that the file takes when it is rotated next. */
export function nextRotated(file: string): string {
  return `${file}.${(numbers(file, () => true).at(-1) ?? 0) + 1}`
}

function numbers(file: string, wants: (entry: Dirent) => boolean): number[] {
  const prefix = `${basename(file)}.`
  let entries: Dirent[]
  try {
    entries = readdirSync(dirname(file), { withFileTypes: true })
  } catch {
    return []
  }
  return entries
    .filter((entry) => entry.name.startsWith(prefix) && /^[1-9]\d{0,8}$/.test(entry.name.slice(prefix.length)))
    .filter(wants)
    .map(({ name }) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b)
}
