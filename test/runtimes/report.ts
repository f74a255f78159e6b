import type { ContractCase } from '../../src/testing/index.ts'

/** The outcome of one case, as plain data that every runtime can return. */
export interface CaseResult {
  readonly name: string
  readonly status: 'passed' | 'failed' | 'skipped'
  /** Why it failed or was skipped. */
  readonly why?: string
}

/** The results of one cell of the matrix: the contract over a backend, or a test file. */
export interface Group {
  readonly name: string
  readonly cases: readonly CaseResult[]
  readonly ms: number
}

/** The results of one runtime. */
export interface Report {
  readonly contracts: readonly Group[]
  readonly files: readonly Group[]
  /** The results and records of one script of calls, per backend. */
  readonly stories: Readonly<Record<string, string>>
}

/** Runs one case of a contract. */
export async function runCase({ name, run }: ContractCase): Promise<CaseResult> {
  try {
    const { skipped } = await run()
    return skipped === undefined ? { name, status: 'passed' } : { name, status: 'skipped', why: skipped }
  } catch (error) {
    return { name, status: 'failed', why: whyOf(error) }
  }
}

/** Describes an error with its line. */
export function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const stack = error.stack ?? ''
  return stack.includes(error.message) ? stack : `${error.name}: ${error.message}\n${stack}`
}
