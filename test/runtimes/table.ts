import { markdownTable } from '../docs/generated-block.ts'
import { type Cell, TESTS } from './cell.ts'
import { floors } from './floors.ts'

/** The outcome of a whole run. */
export interface Matrix {
  readonly cells: readonly Cell[]
  /** Tests of tools that only run in vitest, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>
}

/** Accepted reasons to skip a case of the contract: a capability that the backend lacks, or that a test cannot show. */
const capability =
  /^the backend does not (declare|implement) (links|modes|caseSensitive|persistent|set|times|scan|fork|tree|stage|watch)$|^the backend (has links|implements stage)$|^the test cannot create a link here$|^the subject has no writeBeside$/

/** The reason to skip a case that checks a time limit: several runtimes run at once and slow each other down. */
export const MEASURED = 'costs are measured in Node only'

/** Returns the faults of a cell. */
export function faultsOf({ runtime, row, passed, failed, skipped }: Cell): string[] {
  const cell = `${runtime}, ${row}`
  const faults = failed.map((failure) => `${cell}: ${failure}`)
  const floor = floors[runtime]?.[row]
  if (floor === undefined) faults.push(`${cell}: has no floor`)
  else if (passed < floor) faults.push(`${cell}: ${passed} passed, fewer than ${floor}`)
  for (const reason of Object.keys(skipped)) {
    if (!capability.test(reason) && reason !== MEASURED) faults.push(`${cell}: skipped because ${reason}`)
  }
  return faults
}

/** Returns the faults of a matrix, including missing cells. */
export function faultsOfMatrix({ cells }: Matrix): string[] {
  const missing = Object.entries(floors).flatMap(([runtime, rows]) =>
    Object.keys(rows)
      .filter((row) => !cells.some((cell) => cell.runtime === runtime && cell.row === row))
      .map((row) => `${runtime}, ${row}: is missing`),
  )
  return [...cells.flatMap(faultsOf), ...missing]
}

/** Returns the first line in which two stories differ, around the first difference, or an empty text. */
export function differenceOf(a: string, b: string): string {
  if (a === b) return ''
  const [linesOfA, linesOfB] = [a.split('\n'), b.split('\n')]
  const line = Math.max(
    0,
    linesOfA.findIndex((text, i) => text !== linesOfB[i]),
  )
  const [one, other] = [linesOfA[line] ?? '', linesOfB[line] ?? '']
  const at = [...one].findIndex((_, i) => one[i] !== other[i])
  const around = (text: string) => text.slice(Math.max(0, at - 120), at + 200)
  return `line ${line + 1}:\n  ${around(one)}\n  ${around(other)}`
}

/** Returns the matrix as a Markdown table with the runtimes as columns, followed by the reasons for skipped cases. */
export function tableOf({ cells, leftOut }: Matrix): string {
  const runtimes = Object.keys(floors)
  const names = [...new Set(Object.values(floors).flatMap((rows) => Object.keys(rows)))]
  const rows = [...names.filter((row) => row !== TESTS), TESTS]
  const reasons: string[] = []
  const textOf = (cell: Cell | undefined): string => {
    if (cell === undefined) return '–'
    const failed = cell.failed.length > 0 ? `, **${cell.failed.length} failed**` : ''
    const skipped = Object.entries(cell.skipped).map(([reason, count]) => {
      if (!reasons.includes(reason)) reasons.push(reason)
      return `${count} (${letter(reasons.indexOf(reason))})`
    })
    return `${cell.passed} passed${failed}${skipped.length > 0 ? `, skipped ${skipped.join(', ')}` : ''}`
  }
  const body = rows.map((row) => [
    row,
    ...runtimes.map((runtime) => textOf(cells.find((cell) => cell.runtime === runtime && cell.row === row))),
  ])
  const notes = reasons.map((reason, i) => `(${letter(i)}) ${reason}`)
  const left = Object.entries(leftOut).map(([file, reason]) => `- \`${file}\`: ${reason}`)
  return [
    markdownTable([['', ...runtimes], ...body]),
    ...(notes.length > 0 ? ['', `Skipped, because ${notes.join('; ')}.`] : []),
    ...(left.length > 0 ? ['', "Of the tools' tests these run in Node alone:", '', ...left] : []),
  ].join('\n')
}

const letter = (at: number): string => String.fromCharCode(97 + at)
