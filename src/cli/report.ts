import { statSync } from 'node:fs'
import { styleText } from 'node:util'
import type { AuditRecord } from '../audit/audit-log.ts'
import { readAuditFile, verifyAuditFile } from '../audit/jsonl-sink.ts'
import { reportRuns } from '../audit/report.ts'
import { reportMarkdown } from '../audit/report-text.ts'
import { parseWords, refuseOptions } from './parse-words.ts'
import { reportTables } from './report-tables.ts'

/**
 * `wardspace report FILE`: prints what the runs in an audit file did, as tables, Markdown or JSON. A damaged file is reported
 * up to the damage, with exit code 1.
 */
export async function report(words: string[]): Promise<number> {
  const { values, positionals } = parseWords('report', words, 1)
  if (values.json === true) refuseOptions('report --json', values, ['markdown'])
  const [file] = positionals
  if (file === undefined) throw new TypeError('Which audit file? wardspace report FILE')
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new TypeError(`There is no audit file "${file}"`)
  const audit = verifyAuditFile(file)
  const reports = reportRuns(trustedRecords(file, audit.ok ? audit.count : audit.at)).filter(
    ({ runId }) => values.run === undefined || runId === values.run,
  )
  if (values.json === true) process.stdout.write(`${JSON.stringify({ audit, runs: reports }, null, 2)}\n`)
  else if (values.markdown === true) process.stdout.write(reports.map((run) => reportMarkdown(run, audit)).join('\n'))
  else process.stdout.write(reports.map((run) => reportTables(run, audit)).join('\n'))
  if (reports.length === 0) {
    const missing = values.run === undefined ? 'no run' : `no run ${JSON.stringify(values.run)}`
    process.stderr.write(`wardspace: there is ${missing} in the audit file\n`)
  }
  if (!audit.ok) process.stderr.write(`${styleText('red', 'wardspace: the audit file is damaged')}: ${audit.reason}\n`)
  return audit.ok && reports.length > 0 ? 0 : 1
}

function* trustedRecords(file: string, count: number): Generator<AuditRecord> {
  if (count === 0) return
  let yielded = 0
  for (const record of readAuditFile(file)) {
    yield record
    yielded += 1
    if (yielded === count) return
  }
}
