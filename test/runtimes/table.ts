import type { Cell, Matrix } from './matrix.ts'

/** The least number of cases that each cell must have passed: a cell that is missing, or lost cases, fails the check. */
export const floors: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  Node: { memory: 104, memfs: 101, node: 103, overlay: 104, mounts: 104, "tools' tests": 340 },
  Chromium: { memory: 104, "tools' tests": 340 },
  workerd: { memory: 104, 'Durable Object': 104, R2: 104, "tools' tests": 340 },
  Deno: { memory: 104, memfs: 101, node: 103, overlay: 104, mounts: 104, "tools' tests": 340 },
  Bun: { memory: 104, memfs: 101, node: 103, overlay: 104, mounts: 104, "tools' tests": 340 },
}

/** Reasons of the contract to leave out a case: each states what the backend under test declares, or has no way to be shown. */
const capability =
  /^the backend (declares no|offers no) (links|modes|caseSensitive|lasting|set|times|scan|fork|tree)$|^the backend has links$|^nobody but the backend can store a link here$/

/** What is wrong with a matrix; nothing where all is well. */
export function faultsOf({ cells, stories }: Matrix): string[] {
  const faults: string[] = []
  for (const { runtime, row, passed, failed, skipped } of cells) {
    const cell = `${runtime}, ${row}`
    const floor = floors[runtime]?.[row]
    if (floor === undefined) faults.push(`${cell}: has no floor`)
    else if (passed < floor) faults.push(`${cell}: ${passed} passed, fewer than ${floor}`)
    for (const failure of failed) faults.push(`${cell}: ${failure}`)
    for (const reason of Object.keys(skipped)) {
      if (!capability.test(reason)) faults.push(`${cell}: skipped because ${reason}`)
    }
  }
  for (const runtime of new Set(cells.map((cell) => cell.runtime))) {
    for (const row of Object.keys(floors[runtime] ?? {})) {
      if (!cells.some((cell) => cell.runtime === runtime && cell.row === row))
        faults.push(`${runtime}, ${row}: is missing`)
    }
  }
  const [first, ...others] = Object.entries(stories)
  for (const [name, story] of others) {
    if (first !== undefined && story !== first[1]) faults.push(differenceOf(first, [name, story]))
  }
  return faults
}

/** The first line on which two stories part, around the first differing character. */
function differenceOf([nameA, a]: [string, string], [nameB, b]: [string, string]): string {
  const linesOfB = b.split('\n')
  const lines = a.split('\n')
  const line = lines.findIndex((text, i) => text !== linesOfB[i])
  const one = lines[line] ?? ''
  const other = linesOfB[Math.max(0, line)] ?? ''
  const at = [...one].findIndex((_, i) => one[i] !== other[i])
  const around = (text: string) => text.slice(Math.max(0, at - 120), at + 200)
  return `The story of ${nameB} is not that of ${nameA}, line ${line + 1}:\n  ${around(one)}\n  ${around(other)}`
}

/** The matrix as a Markdown table: rows are what was tested, columns the runtimes, with the reasons of what was skipped below. */
export function tableOf({ cells, leftOut }: Matrix): string {
  const runtimes = [...new Set(cells.map(({ runtime }) => runtime))]
  const rows = [...new Set(cells.map(({ row }) => row))].sort((a, b) => orderOf(a) - orderOf(b))
  const reasons: string[] = []
  const textOf = (cell: Cell | undefined): string => {
    if (cell === undefined) return '–'
    const failed = cell.failed.length > 0 ? `, **${cell.failed.length} failed**` : ''
    const skipped = Object.entries(cell.skipped).map(([reason, count]) => {
      if (!reasons.includes(reason)) reasons.push(reason)
      return `${count} skipped (${reasons.indexOf(reason) + 1})`
    })
    return [`${cell.passed} passed${failed}`, ...skipped].join(', ')
  }
  const body = rows.map((row) => [
    row,
    ...runtimes.map((runtime) => textOf(cells.find((cell) => cell.runtime === runtime && cell.row === row))),
  ])
  const notes = reasons.map((reason, i) => `${i + 1}. ${reason}`)
  const left = Object.entries(leftOut).map(([file, reason]) => `- \`${file}\`: ${reason}`)
  return [
    ...aligned([['', ...runtimes], ...body]),
    ...(notes.length > 0 ? ['', 'Skipped, because', '', ...notes] : []),
    ...(left.length > 0 ? ['', 'Tests that run in Node by vitest alone:', '', ...left] : []),
  ].join('\n')
}

const order = ['memory', 'memfs', 'node', 'overlay', 'mounts']
function orderOf(row: string): number {
  if (row.startsWith('tools')) return 100
  return order.includes(row) ? order.indexOf(row) : order.length
}

function aligned([head = [], ...body]: readonly (readonly string[])[]): string[] {
  const widths = head.map((_, i) => Math.max(3, ...[head, ...body].map((row) => (row[i] ?? '').length)))
  const line = (row: readonly string[]) => `| ${widths.map((width, i) => (row[i] ?? '').padEnd(width)).join(' | ')} |`
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)]
}
