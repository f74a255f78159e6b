import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

const text = /\.(?:[cm]?[jt]sx?|md|json|css|html|ya?ml|txt)$/
const LARGEST = 512 * 1024

/** A directory of real source text on disk, copied from installed packages. */
export interface Corpus {
  readonly root: string
  readonly count: number
  readonly bytes: number
  /** The same files for a memory backend. */
  files(): Record<string, Uint8Array>
  remove(): void
}

/** Copies `count` text files of installed packages, of `smallest` bytes or more, under other names where there are too few, with a `.gitignore`. */
export function makeCorpus(count: number, { smallest = 0 } = {}): Corpus {
  const from = join(import.meta.dirname, '../node_modules')
  const sources = readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && text.test(entry.name))
    .map((entry) => relative(from, join(entry.parentPath, entry.name)))
    // Hidden directories have caches, which grow with each run of the tests.
    .filter((path) => !path.startsWith('.'))
    .filter((path) => isBetween(statSync(join(from, path)).size, smallest, LARGEST))
    .sort()
  const root = mkdtempSync(join(tmpdir(), 'wardspace-bench-'))
  const paths: string[] = []
  let bytes = 0
  // Copies complete packages, starting from the middle of the list, to mix large and small ones.
  const first = Math.floor(sources.length / 3)
  for (let i = 0; paths.length < count; i++) {
    const source = sources[(first + i) % sources.length] ?? ''
    const path = join(
      `part${Math.floor(i / sources.length)}`,
      source.replaceAll('node_modules', 'modules').replace(/(^|\/)(dist|build|target)\//g, '$1out/'),
    )
    const to = join(root, path)
    if (existsSync(to)) continue
    mkdirSync(dirname(to), { recursive: true })
    cpSync(join(from, source), to)
    bytes += statSync(to).size
    paths.push(path)
  }
  writeFileSync(join(root, '.gitignore'), '*.log\n/tmp/\nnode_modules\n')
  return {
    root,
    count: paths.length,
    bytes,
    files: () => Object.fromEntries(paths.map((path) => [path, new Uint8Array(readFileSync(join(root, path)))])),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

function isBetween(size: number, smallest: number, largest: number): boolean {
  return size >= smallest && size <= largest
}
