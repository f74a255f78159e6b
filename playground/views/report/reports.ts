import { type AuditRecord, type RunReport, reportRuns } from 'wardspace/audit'

/** The reports of the runs that made a call. */
export function reportsOf(records: readonly AuditRecord[]): readonly RunReport[] {
  return reportRuns(records).filter(({ calls }) => calls.carriedOut + calls.refused > 0)
}

/** The report of a run; by default that of the last run of the agent. */
export function chosenReport(records: readonly AuditRecord[], runId: string | undefined): RunReport | undefined {
  const reports = reportsOf(records)
  const last = reports.findLast(({ actor }) => actor === 'agent') ?? reports.at(-1)
  return reports.find((report) => report.runId === runId) ?? last
}
