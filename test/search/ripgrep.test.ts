import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { describe, expect, it } from 'vitest'
import { compileQuery } from '../../src/search/query.ts'

const root = join(import.meta.dirname, '../../node_modules')
const trees = ['zod', 'picomatch', 'fast-check', '@modelcontextprotocol', 'memfs'].map((name) => join(root, name))

const files = trees
  .flatMap((tree) => readdirSync(tree, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => ({ path, bytes: readFileSync(path) }))

/** Matching lines per file, counted by rg; `\r\n` ends a line. */
function countsOfRipgrep(query: string, flags: string[]): Map<string, number> {
  const options = [
    '-j1',
    '-uuu',
    '-a',
    '-c',
    '--crlf',
    '--no-config',
    '--null',

    '--encoding=none',
    ...flags,
  ]
  let output = ''
  try {
    output = execFileSync(rgPath, [...options, '-e', query, ...trees], { encoding: 'utf8', maxBuffer: 1 << 28 })
  } catch (error) {
    // rg exits with 1 if nothing matches.
    if ((error as { status?: number }).status !== 1) throw error
  }
  return new Map(
    output
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\0') as [string, string])
      .map(([path, count]) => [path, Number(count)]),
  ) // prettier-ignore
}

describe('search over a real tree', () => {
  it.each([
    ['literal', 'import'],
    ['literal', 'TODO'],
    ['literal', '=> {'],
    ['literal', 'export default'],
    ['literal', 'x'],
    ['literal', '    return'],
    ['literal', 'unlikely-to-be-anywhere'],
    ['literal', '.*'],
    ['literal -i', 'ERROR'],
    ['literal -i', 'symlinks'],
    ['literal -i', 'Q'],
    ['regex', '\\w+\\s*=>\\s*\\{$'],
    ['regex', 'function\\s+\\w+\\('],
    ['regex', '^import .* from [\'"]'],
    ['regex', 'TODO|FIXME|HACK|XXX'],
    ['regex', '\\bstate\\b'],
    ['regex', 'e.e'],
    ['regex', '^\\s*$'],
    ['regex', '^$'],
    ['regex', '[A-Z]{3}\\d{2}'],
    ['regex', '[0-9a-f]{40}'],
    ['regex', '\\d+\\.\\d+\\.\\d+'],
    ['regex', '(?:get|set)[A-Z]\\w*\\('],
    ['regex', '^\\s*\\*\\s+@\\w+'],
    ['regex', '\\B_\\B'],
    ['regex', 'return\\s+(?:true|false);?$'],
    ['regex', '[^\\x00-\\x7f]'],
    ['regex', 'https?://[^\\s"\')]+'],
    ['regex', '(\\w)+\\.(?:js|ts)\\b'],
    ['regex', '.{200,}'],
    ['regex -i', 'error|warning'],
    ['regex -i', '[a-z]+error\\b'],
    ['regex -i', 'json\\.(?:parse|stringify)'],
  ] as const)('%s %s finds as many lines in each file as rg', (kind, query) => {
    const [mode, ignoreCase] = kind.split(' ') as ['literal' | 'regex', string?]
    const compiled = compileQuery({ query, mode, caseSensitive: ignoreCase === undefined })
    // Word classes are ASCII here; in rg they are only without Unicode.
    const flags = [
      ...(/\\[wdsbB]/.test(query) ? ['--no-unicode'] : []),
      ...(mode === 'literal' ? ['-F'] : []),
      ...(ignoreCase === undefined ? [] : ['-i']),
    ]
    const expected = countsOfRipgrep(query, flags)
    const match = new Map<string, number>()
    for (const { path, bytes } of files) {
      let count = 0
      compiled.eachLine(bytes, () => {
        count += 1
        return true
      })
      if (count > 0) match.set(path, count)
    }
    expect(Object.fromEntries([...match].sort())).toEqual(Object.fromEntries([...expected].sort()))
  }) // prettier-ignore

  it('reads more than 1,000 files', () => {
    expect(files.length).toBeGreaterThan(1000)
  })
})
