import { type AuditRecord, type RunReport, reportRuns } from 'wardspace/audit'
import type { TimelineEntry } from 'wardspace/ui'

/** The numbers of tests that passed and failed in one run of them. */
export interface TestCount {
  readonly passed: number
  readonly failed: number
}

/** What one run of the agent did, in numbers. They equal those of its report. */
export interface RunSummary {
  readonly filesChanged: number
  /** Calls that were refused, and commands that were refused in part. */
  readonly refused: number
  /** The first and the last run of the tests. */
  readonly tests: readonly [before: TestCount, after: TestCount] | undefined
}

/** The reports of the runs that made a call. */
export function reportsOf(records: readonly AuditRecord[]): readonly RunReport[] {
  return reportRuns(records).filter(
    ({ calls: { carriedOut, refused, waited, failed } }) => carriedOut + refused + waited + failed > 0,
  )
}

/** Summarizes a run, or returns undefined when it has made no call. */
export function summarizeRun(
  runId: string,
  records: readonly AuditRecord[],
  timeline: readonly TimelineEntry[],
): RunSummary | undefined {
  const report = reportsOf(records).find((run) => run.runId === runId)
  if (report === undefined) return undefined
  const counts = timeline
    .filter(({ record }) => record?.runId === runId)
    .map(({ result }) => countTests(result))
    .filter((count) => count !== undefined)
  const [first] = counts
  const last = counts.at(-1)
  return {
    filesChanged: report.diff.filesChanged,
    refused: new Set(report.forbidden.map(({ callId }) => callId)).size,
    tests: first === undefined || last === undefined ? undefined : [first, last],
  }
}

/** Reads the totals that a test runner prints, as `pass 4` and `fail 2` on lines of their own. */
function countTests(result: TimelineEntry['result']): TestCount | undefined {
  const { stdout } = (result ?? {}) as { stdout?: unknown }
  if (typeof stdout !== 'string') return undefined
  const [, passed] = /^\W*pass (\d+)$/m.exec(stdout) ?? []
  const [, failed] = /^\W*fail (\d+)$/m.exec(stdout) ?? []
  return passed === undefined || failed === undefined ? undefined : { passed: Number(passed), failed: Number(failed) }
}
