import type { CaseResult } from './report.ts'

/** One backend in one runtime, or the tests of the tools in it. */
export interface Cell {
  readonly runtime: string
  readonly row: string
  readonly passed: number
  readonly failed: readonly string[]
  /** Number of skipped cases by reason. */
  readonly skipped: Readonly<Record<string, number>>
}

declare module 'vitest' {
  interface TaskMeta {
    /** Cells that a test has filled by running cases outside vitest, for the reporter of the matrix. */
    cells?: readonly Cell[]
    /** Test files that run in Node only, with the reason. */
    leftOut?: Readonly<Record<string, string>>
  }
}

/** The row of the test files. */
export const TESTS = "tools' tests"

/**
 * The test files that run everywhere: those of the tools, and of the parts below them that may depend on the platform. Tests
 * of pure rules, of costs and of the contract itself run in Node only.
 */
export const everywhere =
  /^test\/(tools\/|audit\/|search\/matches|workspace\/create-workspace\.test|call\/resume\.test)/

/** Counts the outcomes of cases. */
export function cellOf(runtime: string, row: string, cases: readonly CaseResult[]): Cell {
  const skipped: Record<string, number> = {}
  for (const { status, why = '' } of cases) if (status === 'skipped') skipped[why] = (skipped[why] ?? 0) + 1
  return {
    runtime,
    row,
    passed: cases.filter(({ status }) => status === 'passed').length,
    failed: cases.filter(({ status }) => status === 'failed').map(({ name, why }) => `${name}\n${why}`),
    skipped,
  }
}
