import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Everything below a directory by path, without following links. Reads with node:fs, not with the code under test. */
export function treeOf(directory: string, prefix = ''): Map<string, string> {
  const match = new Map<string, string>()
  for (const name of readdirSync(directory).sort()) {
    const location = join(directory, name)
    const path = prefix + name
    const stats = lstatSync(location)
    if (stats.isSymbolicLink()) match.set(path, `link ${readlinkSync(location)}`)
    else if (stats.isDirectory()) {
      match.set(path, 'directory')
      for (const [below, label] of treeOf(location, `${path}/`)) match.set(below, label)
    } else if (stats.isFile()) match.set(path, `file ${readFileSync(location, 'latin1')}`)
    else match.set(path, 'other')
  }
  return match
}

/** The temporary files below a directory. */
export function straysIn(directory: string): string[] {
  return [...treeOf(directory).keys()].filter((path) => path.includes('.wardspace-'))
}
