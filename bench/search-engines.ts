/**
 * The search engine alone, over bytes in memory, against a native `rg -j1` process over the same files on disk. Both find and
 * count every matching line. `npx tsx bench/search-engines.ts [runs]`
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { compileQuery } from '../src/search/query.ts'
import { median } from './measure.ts'

const queries: readonly [kind: string, mode: 'literal' | 'regex', query: string, caseSensitive?: boolean][] = [
  ['literal', 'literal', 'createWorkspace'],
  ['literal', 'literal', 'TODO'],
  ['literal', 'literal', 'state'],
  ['literal', 'literal', '=> {'],
  ['literal, dense', 'literal', 'return'],
  ['literal, dense', 'literal', 'e'],
  ['literal', 'literal', 'deprecated', false],
  ['literal', 'literal', 'todo', false],
  ['with a literal', 'regex', '\\w+\\s*=>\\s*\\{$'],
  ['with a literal', 'regex', 'function\\s+\\w+Error\\('],
  ['with a literal', 'regex', 'TODO|FIXME|HACK'],
  ['with a literal', 'regex', 'return\\s+\\d+'],
  ['with a literal', 'regex', 'function\\s+\\w+\\('],
  ['with a literal', 'regex', '\\w+Error\\b'],
  ['with a literal', 'regex', 'import .* from [\'"]node:'],
  ['any other', 'regex', '\\w+\\s+\\d+\\s\\w+\\s\\d'],
  ['any other', 'regex', '[A-Z]{3}\\d{2}'],
  ['any other', 'regex', '[0-9a-f]{40}'],
  ['any other', 'regex', '[A-Z]{12,}'],
  ['any other', 'regex', '\\b\\d{3}-\\d{4}\\b'],
  ['any other', 'regex', '\\b\\d{1,3}(?:\\.\\d{1,3}){3}\\b'],
  ['any other', 'regex', '\\p{Lu}\\p{Ll}+\\d{2}'],
]

const runs = Number(process.argv[2] ?? 5)
const root = mkdtempSync(join(tmpdir(), 'search-engines-'))
try {
  for (const count of [2500, 25_000]) compare(makeTree(join(root, String(count)), count))
} finally {
  rmSync(root, { recursive: true, force: true })
}

/** Creates a tree of that many text files by copying the installed packages repeatedly. */
function makeTree(tree: string, count: number): string {
  const installed = join(import.meta.dirname, '../node_modules')
  const sources = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:[cm]?[jt]s|json|md|css|html|txt|yml)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const step = Math.max(1, Math.floor(sources.length / count))
  const chosen = sources.filter((_, i) => i % step === 0)
  for (let i = 0; i < count; i++) {
    const source = chosen[i % chosen.length] as string
    const path = join(
      tree,
      `copy${Math.floor(i / chosen.length)}`,
      source.slice(installed.length).replaceAll('node_modules', 'modules'),
    )
    mkdirSync(dirname(path), { recursive: true })
    cpSync(source, path)
  }
  return tree
}

function compare(tree: string): void {
  const files = readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => new Uint8Array(readFileSync(join(entry.parentPath, entry.name))))
  const megabytes = files.reduce((sum, bytes) => sum + bytes.length, 0) / 1e6
  console.log(
    `\n${files.length} files, ${megabytes.toFixed(0)} MB: milliseconds, median of ${runs}; first: the first run of the query`,
  )
  console.log(
    `${'kind'.padEnd(16)}${'query'.padEnd(36)}${'lines'.padStart(8)}${'first'.padStart(8)}${'ours'.padStart(8)}${'rg -j1'.padStart(8)}${'ratio'.padStart(8)}`,
  ) // prettier-ignore
  for (const [kind, mode, query, caseSensitive = true] of queries) {
    const ours: number[] = []
    const theirs: number[] = []
    let lines = 0
    for (let run = 0; run < runs; run++) {
      let started = performance.now()
      lines = 0
      const compiled = compileQuery({ query, mode, caseSensitive })
      for (const bytes of files) {
        compiled.eachLine(bytes, () => {
          lines += 1
          return true
        })
      }
      ours.push(performance.now() - started)
      started = performance.now()
      const flags = [...(mode === 'literal' ? ['-F'] : []), ...(caseSensitive ? [] : ['-i'])]
      spawnSync(rgPath, ['-j1', '-uuu', '-a', '-c', '--no-config', '--no-messages', ...flags, '-e', query, tree], {
        maxBuffer: 1 << 28,
      }) // prettier-ignore
      theirs.push(performance.now() - started)
    }
    const [first] = ours as [number]
    const ratio = median(ours) / median(theirs)
    console.log(
      kind.padEnd(16) +
        `${query}${caseSensitive ? '' : ' (any case)'}`.padEnd(36) +
        String(lines).padStart(8) +
        [first, median(ours), median(theirs)].map((ms) => ms.toFixed(1).padStart(8)).join('') +
        ratio.toFixed(2).padStart(8),
    )
  }
}
