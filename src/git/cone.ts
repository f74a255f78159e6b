import { addAncestors, nearestFinder, type Path, parentOf } from '../paths/logical-path.ts'
import { compareBytes } from '../util/bytes.ts'

/**
 * What a sparse checkout has in git's cone mode: everything below its directories, and the files directly in the directories above
 * them, the root included.
 */
export interface Cone {
  /** Sorted. None lies in another one. */
  readonly directories: readonly Path[]
  /** Whether the cone has a file. */
  includes(path: string): boolean
}

export function coneOf(requested: Iterable<Path>): Cone {
  const whole = new Set(requested)
  // Git has only the files of the root for the root itself.
  whole.delete('' as Path)
  const wholeAbove = nearestFinder<Path>((path) => whole.has(path))
  const directories = [...whole].filter((path) => wholeAbove(parentOf(path)) === undefined).sort(byBytes)
  const above = new Set<Path>()
  for (const path of directories) addAncestors(above, path)
  return {
    directories,
    includes(path) {
      const directory = parentOf(path as Path)
      return directory === '' || above.has(directory) || wholeAbove(directory) !== undefined
    },
  }
}

/** Returns the content of `.git/info/sparse-checkout`, as git writes it. */
export function conePatterns({ directories }: Cone): string {
  const above = new Set<Path>()
  for (const path of directories) addAncestors(above, path)
  const lines = ['/*', '!/*/']
  for (const path of [...above].sort(byBytes)) lines.push(`/${escaped(path)}/`, `!/${escaped(path)}/*/`)
  for (const path of directories) lines.push(`/${escaped(path)}/`)
  return `${lines.join('\n')}\n`
}

/** Parses `.git/info/sparse-checkout`. Returns `undefined` for patterns that are not those of cone mode. */
export function parseCone(text: string): Cone | undefined {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const [first, second, ...rest] = lines
  if (first !== '/*' || second !== '!/*/') return undefined
  const excluded = new Set(rest.filter((line) => line.startsWith('!')))
  const directories: Path[] = []
  for (const line of rest) {
    const [, name] = /^!?\/((?:[^*?[\\]|\\[*?[\]\\])+)\/(?:\*\/)?$/.exec(line) ?? []
    if (name === undefined || line.startsWith('!') !== line.endsWith('/*/')) return undefined
    if (line.startsWith('!') || excluded.has(`!${line}*/`)) continue
    directories.push(name.replace(/\\(.)/g, '$1') as Path)
  }
  return coneOf(directories)
}

function escaped(path: string): string {
  return path.replace(/[*?[\\]/g, '\\$&')
}

function byBytes(a: string, b: string): number {
  return compareBytes(encoder.encode(a), encoder.encode(b))
}

const encoder = new TextEncoder()
