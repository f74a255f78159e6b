import { type ReadonlySignal, signal } from '@preact/signals'
import type { Backend, Path } from 'wardspace'
import { createYield } from '../projects/yield-to-page.ts'
import { type FuzzyMatch, fuzzyMatch } from './fuzzy.ts'

/** Finds files of the project by some of the characters of their path. */
export interface FileFinder {
  readonly matches: ReadonlySignal<readonly FuzzyMatch[]>
  readonly isBusy: ReadonlySignal<boolean>
  /** Searches for typed characters. A later call replaces an earlier one. */
  ask(query: string): Promise<void>
}

/** Matches that are shown. A person types on before reading more. */
const MAX_MATCHES = 50

/** Directories that no person searches for a file to edit. */
const skipped: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/** @param recent the paths that come first as long as nothing is typed */
export function createFileFinder(backend: Pick<Backend, 'list'>, recent: () => readonly string[]): FileFinder {
  const matches = signal<readonly FuzzyMatch[]>([])
  const isBusy = signal(false)
  let paths: Promise<readonly string[]> | undefined
  let asked = 0
  return {
    matches,
    isBusy,
    async ask(query) {
      asked += 1
      const own = asked
      isBusy.value = true
      paths ??= listFiles(backend)
      const found = await rank(query, await paths, query.trim() === '' ? recent() : [], () => own === asked)
      if (own !== asked) return
      matches.value = found
      isBusy.value = false
    },
  }
}

async function listFiles(backend: Pick<Backend, 'list'>): Promise<readonly string[]> {
  const files: string[] = []
  const directories: string[] = ['']
  const yieldToPage = createYield()
  for (let directory = directories.shift(); directory !== undefined; directory = directories.shift()) {
    for (const { name, type } of await backend.list(directory as Path).catch(() => [])) {
      const path = directory === '' ? name : `${directory}/${name}`
      if (type !== 'directory') files.push(path)
      else if (!skipped.has(name)) directories.push(path)
    }
    await yieldToPage()
  }
  return files
}

/** Ranks the paths in slices, so that no query blocks the page. */
async function rank(
  query: string,
  paths: readonly string[],
  first: readonly string[],
  isWanted: () => boolean,
): Promise<readonly FuzzyMatch[]> {
  const yieldToPage = createYield()
  const found: FuzzyMatch[] = []
  for (const [index, path] of paths.entries()) {
    const match = fuzzyMatch(query, path)
    if (match !== undefined) found.push(match)
    if (index % 100 !== 0) continue
    await yieldToPage()
    if (!isWanted()) return []
  }
  const rankOf = ({ path, score }: FuzzyMatch) => score + (first.includes(path) ? 1_000 : 0)
  return found.sort((a, b) => rankOf(b) - rankOf(a)).slice(0, MAX_MATCHES)
}
