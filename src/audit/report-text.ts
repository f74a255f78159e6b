import { checkArgument, must, refuseSurplus } from '../util/check-options.ts'
import { counted } from '../util/counted.ts'
import type { RunReport } from './report.ts'
import type { AuditCheck } from './verify.ts'

/** One part of a report as a table. `none` is the text shown if it has no rows. */
export interface ReportSection {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly none: string
}

/** Returns the parts of a report, each as a table. `audit` is the check of the records that the report was made from. */
export function reportSections(report: RunReport, audit?: AuditCheck): readonly ReportSection[] {
  return [runSection(report, audit), ...fileSections(report), ...guardSections(report)]
}

/** Shortens the id of a call of the run to its number. */
function callName(report: RunReport, callId: string): string {
  return callId.startsWith(`${report.runId}-`) ? `#${callId.slice(report.runId.length + 1)}` : callId
}

function callNames(report: RunReport, callIds: readonly string[]): string {
  return list(callIds.map((callId) => callName(report, callId)))
}

function runSection(report: RunReport, audit: AuditCheck | undefined): ReportSection {
  const { task, plan, calls } = report
  return {
    title: 'Run',
    columns: ['', ''],
    none: '',
    rows: [
      ['run', report.runId],
      ['actor', report.actor],
      ['task', task?.text ?? 'none given'],
      ...(task?.risk === undefined ? [] : [['risk', task.risk]]),
      ...(plan === undefined ? [] : [['approved plan', planText(report, plan)]]),
      ['from', report.from ?? 'no record'],
      ['to', report.to ?? 'no record'],
      ['calls', callsText(calls)],
      ['changes', diffText(report)],
      ...(calls.unfinished.length === 0 ? [] : [['unfinished', callNames(report, calls.unfinished)]]),
      ...(audit === undefined ? [] : [['audit', auditText(audit)]]),
    ],
  }
}

function callsText({ carriedOut, refused, waited, failed }: RunReport['calls']): string {
  const text = `${carriedOut} carried out, ${refused} refused, ${failed} failed`
  return waited === 0 ? text : `${text}, ${waited} waited for an approval`
}

function diffText({ diff: { filesChanged, insertions, deletions, uncounted } }: RunReport): string {
  const files = `${counted(filesChanged, 'file')} changed, +${insertions} -${deletions}`
  if (uncounted === 0) return files
  return `${files}, without ${counted(uncounted, 'call')} too large to count`
}

/** What the run read and wrote. */
function fileSections(report: RunReport): ReportSection[] {
  return [
    {
      title: 'Files read',
      columns: ['path', 'versions', 'calls'],
      none: 'No file was read.',
      rows: report.read.map(({ path, versions, calls }) => [
        path,
        versions.map(short).join(' '),
        callNames(report, calls),
      ]),
    },
    {
      title: 'Files written',
      columns: ['path', 'from', 'to', 'call', 'tool', 'why'],
      none: 'Nothing was written.',
      rows: report.written.flatMap(({ path, changes }) =>
        changes.map(({ callId, tool, reason = '', from, to }) => [
          path,
          short(from),
          short(to),
          callName(report, callId),
          tool,
          reason,
        ]),
      ),
    },
    {
      title: 'Patches and their base',
      columns: ['call', 'tool', 'paths', 'base'],
      none: 'No call depended on an earlier version.',
      rows: report.patches.map(({ callId, tool, paths, metBase, code = '' }) => [
        ...[callName(report, callId), tool, pathList(paths)],
        metBase ? 'met' : `not met (${code})`,
      ]),
    },
  ]
}

/** What the policy refused, asked for and labelled. */
function guardSections(report: RunReport): ReportSection[] {
  return [
    {
      title: 'Forbidden paths tried',
      columns: ['call', 'tool', 'paths', 'code', 'rules'],
      none: 'Nothing forbidden was tried.',
      rows: report.forbidden.map(({ callId, tool, paths, code, rules }) => [
        ...[callName(report, callId), tool, pathList(paths), code, list(rules)],
      ]),
    },
    {
      title: 'Scope of the task',
      columns: ['question', 'answer'],
      none: 'The task has no scope.',
      rows: scopeRows(report),
    },
    {
      title: 'Approvals',
      columns: ['call', 'tool', 'answer', 'by', 'rules', 'paths'],
      none: 'No call needed an approval.',
      rows: report.approvals.map(({ callId, tool, how, by = '', rules, paths }) => [
        ...[callName(report, callId), tool, answers[how], by, list(rules), pathList(paths)],
      ]),
    },
    {
      title: 'Taint',
      columns: ['label', 'came from', 'by call', 'tool'],
      none: 'Nothing labelled was read.',
      rows: report.taint.map(({ label, path = 'output of a command', callId, tool }) => [
        label,
        path,
        callName(report, callId),
        tool,
      ]),
    },
  ]
}

function scopeRows(report: RunReport): string[][] {
  const { scope } = report
  if (scope === undefined) return []
  const { globs, finalDiffInside, outside, calls } = scope
  return [
    ['scope', list(globs)],
    ['final diff', finalDiffInside ? 'inside the scope' : `OUTSIDE the scope: ${pathList(outside)}`],
    ...calls.map(({ callId, tool, paths }) => [`${callName(report, callId)} ${tool}`, `OUTSIDE: ${pathList(paths)}`]),
  ]
}

const answers = {
  once: 'allowed once',
  run: 'allowed for the run',
  earlier: 'allowed earlier',
  denied: 'denied',
  required: 'never answered',
} as const

const isReport = must(
  'a report of a run, such as workspace.report()',
  (report) => typeof Object(report).runId === 'string' && Array.isArray(Object(report).forbidden),
)

const isAuditCheck = must('the result of verifyAudit()', (audit) => {
  const { ok, count, at, reason } = Object(audit)
  return ok === true
    ? Number.isSafeInteger(count)
    : ok === false && Number.isSafeInteger(at) && typeof reason === 'string'
})

/**
 * Returns a report as Markdown. Text from outside (paths, reasons, names) is escaped.
 *
 * @example
 * console.log(reportMarkdown(await workspace.report(), workspace.verifyAudit()))
 */
export function reportMarkdown(report: RunReport, audit?: AuditCheck): string {
  refuseSurplus('reportMarkdown()', 2, arguments)
  checkArgument('reportMarkdown()', 'report', report, isReport)
  if (audit !== undefined) checkArgument('reportMarkdown()', 'audit', audit, isAuditCheck)
  const parts = reportSections(report, audit).map(({ title, columns, rows, none }) => {
    if (rows.length === 0) return `## ${title}\n\n${none}\n`
    const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(' | ')} |`
    return [`## ${title}\n`, line(columns), line(columns.map(() => '---')), ...rows.map(line), ''].join('\n')
  })
  return [`# Report of run ${escaped(report.runId)}\n`, ...parts].join('\n')
}

/** Escapes Markdown, HTML and line ends. */
function escaped(cell: string): string {
  if (cell === '---') return cell
  return visible(cell).replace(/[\\`*_{}[\]<>()#|~!&]/g, (mark) => `\\${mark}`)
}

/** Replaces control and formatting characters by their code points. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (char) => `u+${Number(char.codePointAt(0)).toString(16).padStart(4, '0')}`,
  )
}

function auditText(audit: AuditCheck): string {
  return audit.ok
    ? `${counted(audit.count, 'record')}, chain intact`
    : `BROKEN at record ${audit.at + 1}: ${audit.reason}`
}

function short(version: string | null): string {
  return version === null ? 'none' : version.slice(0, 12)
}

const MAX_ITEMS = 20

function list(items: readonly string[]): string {
  const text = items.slice(0, MAX_ITEMS).join(', ')
  return items.length > MAX_ITEMS ? `${text} and ${items.length - MAX_ITEMS} more` : text
}

/** Paths, with a word for the root, whose path is a dot. */
function pathList(paths: readonly string[]): string {
  return list(paths.map((path) => (path === '.' || path === '' ? 'workspace root' : path)))
}

function planText(report: RunReport, { text, paths, callId, by }: NonNullable<RunReport['plan']>): string {
  const where = paths === undefined ? '' : ` (${list(paths)})`
  const approver = by === undefined ? '' : `, by ${by}`
  return `${text.replace(/\s+/g, ' ').trim()}${where}, call ${callName(report, callId)}${approver}`
}
