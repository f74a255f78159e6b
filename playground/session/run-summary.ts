import { type AuditRecord, type RunReport, reportRuns } from 'wardspace/audit'
import type { TimelineEntry } from 'wardspace/ui'

/** The numbers of tests that passed and failed in one run of them. */
export interface TestCount {
  readonly passed: number
  readonly failed: number
}

/** What the agent did in one turn, in numbers. They equal those of the report of a run that has only this turn. */
export interface TurnSummary {
  readonly runId: string
  /** The time of the first call, in milliseconds since 1970. */
  readonly at: number
  readonly callIds: ReadonlySet<string>
  readonly filesChanged: number
  /** Calls that were refused, and commands that were refused in part. */
  readonly refused: number
  /** Each run of the tests. */
  readonly tests: readonly TestCount[]
}

/** The reports of the runs that made a call. */
export function reportsOf(records: readonly AuditRecord[]): readonly RunReport[] {
  return reportRuns(records)
    .filter(({ calls: { carriedOut, refused, waited, failed } }) => carriedOut + refused + waited + failed > 0)
    .map((report) => ({ ...report, forbidden: perCall(report.forbidden) }))
}

/** Joins what was refused of one call, since the page counts calls. */
function perCall(refusals: RunReport['forbidden']): RunReport['forbidden'] {
  const unique = (texts: readonly string[]) => [...new Set(texts)]
  return unique(refusals.map(({ callId }) => callId)).map((callId) => {
    const all = refusals.filter((one) => one.callId === callId)
    return {
      ...{ callId, tool: all[0]?.tool ?? '' },
      paths: unique(all.flatMap(({ paths }) => paths)),
      code: unique(all.map(({ code }) => code)).join(', '),
      rules: unique(all.flatMap(({ rules }) => rules)),
    }
  })
}

/** Summarizes the calls of a turn, by the ids that the model gave them. Returns undefined if no record has one of these ids. */
export function summarizeTurn(
  steps: readonly string[],
  records: readonly AuditRecord[],
  timeline: readonly TimelineEntry[],
): TurnSummary | undefined {
  // Another conversation may have used the same ids, and a reload or another policy begins another run.
  const runId = timeline.findLast(({ record, step = '' }) => record !== undefined && steps.includes(step))?.record
    ?.runId
  const entries = timeline.filter(({ record, step = '' }) => record?.runId === runId && steps.includes(step))
  const callIds = new Set(entries.map(({ record }) => record?.toolCallId ?? ''))
  const [report] = reportsOf(records.filter(({ toolCallId }) => callIds.has(toolCallId)))
  const [first] = entries
  if (report === undefined || first === undefined || runId === undefined) return undefined
  return {
    runId,
    at: first.at,
    callIds,
    filesChanged: report.diff.filesChanged,
    refused: report.forbidden.length,
    tests: entries.map(({ result }) => countTests(result)).filter((count) => count !== undefined),
  }
}

/** Reads the totals that a test runner prints, as `pass 4` and `fail 2` on lines of their own. */
function countTests(result: TimelineEntry['result']): TestCount | undefined {
  const { stdout } = (result ?? {}) as { stdout?: unknown }
  if (typeof stdout !== 'string') return undefined
  const [, passed] = /^[^\w\s]?[ \t]*pass (\d+)$/m.exec(stdout) ?? []
  const [, failed] = /^[^\w\s]?[ \t]*fail (\d+)$/m.exec(stdout) ?? []
  return passed === undefined || failed === undefined ? undefined : { passed: Number(passed), failed: Number(failed) }
}
