import { appendFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

/**
 * Returns the median milliseconds of each function. Each round runs every function once, so that load on the machine
 * affects all equally. The first round is not counted.
 */
export async function medians<K extends string>(
  rounds: number,
  work: Readonly<Record<K, () => unknown>>,
): Promise<Record<K, number>> {
  const names = Object.keys(work) as K[]
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      const started = performance.now()
      await work[name]()
      if (round >= 0) times[name].push(performance.now() - started)
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])])) as Record<K, number>
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Throws if a call fails. */
export async function must(answer: Promise<{ ok: boolean; message?: unknown }>): Promise<void> {
  const result = await answer
  if (!result.ok) throw new Error(String(result.message))
}

/** A measured row, as `runs.ts` reads it. */
export interface MeasuredRow {
  readonly heading: string
  readonly label: string
  readonly ratio: number
  /** Missing if any ratio will do. */
  readonly budget?: number
  readonly goal?: number
}

let title = ''

/** Begins a table. */
export function heading(text: string): void {
  title = text
  console.log(`\n${text}`)
}

/** How {@link report} shows a row. */
interface Row {
  /** The unit of both values. Default: `ms`. */
  readonly unit?: string
  /** The ratio to reach, where it is lower than the budget. */
  readonly goal?: number
}

/** Prints a row of a table: a label, the ratio to the reference, and its budget. The process fails if a row exceeds its budget. */
export function report(
  label: string,
  ours: number,
  reference: number,
  budget: number,
  { unit = 'ms', goal }: Row = {},
): void {
  const ratio = ours / reference
  if (ratio > budget) process.exitCode = 1
  const { BENCH_ROWS } = process.env
  if (BENCH_ROWS !== undefined) {
    const row = { heading: title, label, ratio, budget: Number.isFinite(budget) ? budget : undefined, goal }
    appendFileSync(BENCH_ROWS, `${JSON.stringify(row)}\n`)
  }
  const bounds = `(at most ${budget}${goal === undefined ? '' : `, goal ${goal}`})`
  console.log(
    `${ratio <= budget ? 'ok  ' : 'OVER'} ${label.padEnd(58)} ${ratio.toFixed(3).padStart(8)}x ${bounds}   ${format(ours)} against ${format(reference)} ${unit}`,
  )
}

function format(value: number): string {
  return value.toFixed(value < 1 ? 4 : 2)
}
