import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Everything below a directory, by path, links not followed: what is there by node:fs, not by the code under test. */
export function treeOf(directory: string, prefix = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const name of readdirSync(directory).sort()) {
    const place = join(directory, name)
    const path = prefix + name
    const stats = lstatSync(place)
    if (stats.isSymbolicLink()) found.set(path, `link ${readlinkSync(place)}`)
    else if (stats.isDirectory()) {
      found.set(path, 'directory')
      for (const [below, what] of treeOf(place, `${path}/`)) found.set(below, what)
    } else if (stats.isFile()) found.set(path, `file ${readFileSync(place, 'latin1')}`)
    else found.set(path, 'other')
  }
  return found
}

/** The temporary files below a directory. */
export function straysIn(directory: string): string[] {
  return [...treeOf(directory).keys()].filter((path) => path.includes('.wardspace-'))
}
