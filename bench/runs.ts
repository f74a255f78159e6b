import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GeneratedBlock, markdownTable } from '../test/docs/generated-block.ts'
import { type MeasuredRow, median } from './measure.ts'

/**
 * Runs benchmarks several times, each in a process of its own, and prints the median of each row with the
 * lowest and the highest ratio. With `write`, `docs/benchmarks.md` gets the tables in place of those with the same headings. The process
 * fails if a run exceeds a budget.
 */
export function severalRuns(names: readonly string[], count: number, write: boolean): void {
  const directory = mkdtempSync(join(tmpdir(), 'wardspace-bench-'))
  const file = join(directory, 'rows')
  try {
    for (let run = 0; run < count; run++) {
      const options = { stdio: 'inherit', env: { ...process.env, BENCH_ROWS: file } } as const
      const { status } = spawnSync(process.execPath, [import.meta.filename, ...names], options)
      if (status !== 0) process.exitCode = 1
    }
    const rows = readFileSync(file, 'utf8').trim().split('\n')
    const tables = tablesOf(rows.map((line) => JSON.parse(line) as MeasuredRow))
    console.log(tables.join('\n\n'))
    if (write) {
      const page = join(import.meta.dirname, '../docs/benchmarks.md')
      const block = new GeneratedBlock('rows', 'npm run bench -- --runs=3 --write')
      const text = readFileSync(page, 'utf8')
      writeFileSync(page, block.replace(text, merged(block.read(text).split(/\n\n(?=### )/), tables).join('\n\n')))
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Returns the old tables with the new ones in place of those with the same headings, or after them. */
function merged(old: readonly string[], tables: readonly string[]): readonly string[] {
  const headingOf = (table: string) => table.slice(0, table.indexOf('\n'))
  const byHeading = new Map([...old, ...tables].map((table) => [headingOf(table), table]))
  return [...byHeading.values()]
}

function tablesOf(rows: readonly MeasuredRow[]): readonly string[] {
  const date = new Date().toISOString().slice(0, 10)
  return [...grouped(rows, 'heading')].map(([heading, all]) => {
    const head = [`${date}: ratio to the program named last`, 'median', 'lowest–highest', 'budget', 'goal']
    const body = [...grouped(all, 'label')].map(([label, same]) => {
      const ratios = same.map(({ ratio }) => ratio)
      const { budget, goal } = same[0] ?? {}
      return [
        `\`${label.replaceAll('|', '\\|')}\``,
        short(median(ratios)),
        `${short(Math.min(...ratios))}–${short(Math.max(...ratios))}`,
        String(budget ?? '–'),
        String(goal ?? '–'),
      ]
    })
    return `### ${heading}\n\n${markdownTable([head, ...body], [false, true, true, true, true])}`
  })
}

function grouped(rows: readonly MeasuredRow[], key: 'heading' | 'label'): ReadonlyMap<string, readonly MeasuredRow[]> {
  const groups = new Map<string, MeasuredRow[]>()
  for (const row of rows) groups.set(row[key], [...(groups.get(row[key]) ?? []), row])
  return groups
}

const short = (ratio: number): string => String(Number(ratio.toPrecision(2)))
