import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { sizeTable, staleSizes } from '../../bench/size-table.ts'
import { type Step, steps } from '../../bench/tokens/measured.ts'
import { measureWardspace, wardspaceRows } from '../../bench/tokens/ours.ts'
import { cellsOf, columns, type Figures, figuresIn, figuresOf } from '../../bench/tokens/rows.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { markdownTable } from './generated-block.ts'

const pageOf = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')

/** The output of `node --test` depends on the version of Node. */
const comparable = steps.filter((step): step is Exclude<Step, 'run'> => step !== 'run')

describe('docs/benchmarks.md: tokens of Wardspace', () => {
  const page = pageOf('docs/benchmarks.md')
  let measured: ReadonlyMap<string, Figures>
  beforeAll(async () => {
    measured = new Map((await measureWardspace()).map((each) => [each.name, figuresOf(each)]))
  }, 120_000)

  it.each(wardspaceRows)('%s: differ from the measured ones by at most 2 % (npm run bench:tokens -- --own)', (name) => {
    const { tools, definitions, results } = figuresIn(page, name)
    const now = measured.get(name) as Figures
    expect(tools, 'tools').toBe(now.tools)
    expectClose(definitions.tokens, now.definitions.tokens, 'tokens of the definitions')
    expectClose(definitions.bytes, now.definitions.bytes, 'bytes of the definitions')
    for (const step of comparable) {
      if (now.results[step] === undefined) expect(results[step], step).toBeUndefined()
      else expectClose(results[step], now.results[step], step)
    }
  })

  it.each(wardspaceRows)('%s: sum and mean of the results are right', (name) => {
    const line = page.split('\n').find((row) => row.startsWith(`| ${name} `)) ?? ''
    const cells = line.split('|').slice(2, -1)
    expect(cells.map((cell) => cell.trim())).toEqual(cellsOf(figuresIn(page, name)))
  })

  it('parses the figures that it writes', () => {
    const figures = { tools: 2, definitions: { tokens: 30, bytes: 120 }, results: { list: 10, edit: 5 } }
    const table = markdownTable([
      ['', ...columns],
      ['some tools', ...cellsOf(figures)],
    ])
    expect(figuresIn(table, 'some tools')).toEqual(figures)
    expect(() => figuresIn(table, 'other tools')).toThrow('no row')
  })
})

describe('docs/benchmarks.md: table of sizes', () => {
  const sizes = new Map([
    ['.', { own: 150, whole: 180 }],
    ['./audit', { own: 0.7, whole: undefined }],
  ])

  it('is accepted if every size differs by at most 10 % or 1 KB', () => {
    const shown = new Map([
      ['.', { own: 164, whole: 163 }],
      ['./audit', { own: 1.6, whole: undefined }],
    ])
    expect(staleSizes(sizeTable(sizes), sizes)).toEqual([])
    expect(staleSizes(sizeTable(shown), sizes)).toEqual([])
  })

  it('is stale if a size differs by more, or if a row is missing or superfluous', () => {
    const shown = new Map([
      ['.', { own: 170, whole: 180 }],
      ['./gone', { own: 1, whole: 1 }],
    ])
    expect(staleSizes(sizeTable(shown), sizes)).toEqual([
      '`wardspace/gone` is not an entry',
      '`wardspace`: 170.0 and 180.0 KB, now 150.0 and 180.0',
      '`wardspace/audit` is missing',
    ])
  })
})

describe('docs/guide/start.md: list of tools', () => {
  it('contains every built-in tool once, in the order of the registry', () => {
    const [, section = ''] = pageOf('docs/guide/start.md').split('\n## Tools\n')
    const table =
      section
        .split('\n## ')[0]
        ?.split('\n')
        .filter((line) => line.startsWith('|')) ?? []
    const names = table.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name))
    expect(names).toEqual(builtinTools.map(({ name }) => name))
  })
})

function expectClose(figure: number | undefined, measured: number, label: string): void {
  expect(
    Math.abs((figure ?? Number.NaN) - measured),
    `${label}: ${figure} on the page, ${measured} measured`,
  ).toBeLessThanOrEqual(Math.max(measured * 0.02, 1))
}
