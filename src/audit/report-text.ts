import type { RunReport } from './report.ts'
import type { AuditCheck } from './verify.ts'

/** One part of a report as a table; `none` stands where it has no rows. */
export interface ReportSection {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly none: string
}

/** The questions that a report answers, each as a table. `audit` is the check of the records that it was made from. */
export function reportSections(report: RunReport, audit?: AuditCheck): readonly ReportSection[] {
  const { task, plan, calls, scope } = report
  const named = (callId: string) =>
    callId.startsWith(`${report.runId}-`) ? `#${callId.slice(report.runId.length + 1)}` : callId
  return [
    {
      title: 'Run',
      columns: ['', ''],
      none: '',
      rows: [
        ['run', report.runId],
        ['actor', report.actor],
        ['task', task?.text ?? 'none given'],
        ...(task?.risk === undefined ? [] : [['risk', task.risk]]),
        ...(plan === undefined ? [] : [['approved plan', planText(plan, named)]]),
        ['from', report.from ?? 'no record'],
        ['to', report.to ?? 'no record'],
        ['calls', `${calls.carriedOut} carried out, ${calls.refused} refused`],
        ...(calls.unfinished.length === 0 ? [] : [['unfinished', list(calls.unfinished.map(named))]]),
        ...(audit === undefined ? [] : [['audit', auditText(audit)]]),
      ],
    },
    {
      title: 'Files read',
      columns: ['path', 'versions', 'calls'],
      none: 'No file was read.',
      rows: report.read.map(({ path, versions, calls: by }) => [
        path,
        versions.map(short).join(' '),
        list(by.map(named)),
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
          named(callId),
          tool,
          reason,
        ]),
      ),
    },
    {
      title: 'Patches and their base',
      columns: ['call', 'tool', 'paths', 'base'],
      none: 'No call stood on an earlier version.',
      rows: report.patches.map(({ callId, tool, paths, metBase, code = '' }) => [
        ...[named(callId), tool, list(paths)],
        metBase ? 'met' : `not met (${code})`,
      ]),
    },
    {
      title: 'Forbidden paths tried',
      columns: ['call', 'tool', 'paths', 'code', 'rules'],
      none: 'Nothing forbidden was tried.',
      rows: report.forbidden.map(({ callId, tool, paths, code, rules }) => [
        ...[named(callId), tool, list(paths), code, list(rules)],
      ]),
    },
    {
      title: 'Scope of the task',
      columns: ['question', 'answer'],
      none: 'The task has no scope.',
      rows:
        scope === undefined
          ? []
          : [
              ['scope', list(scope.globs)],
              ['final diff', scope.finalDiffInside ? 'inside the scope' : `OUTSIDE the scope: ${list(scope.outside)}`],
              ...scope.calls.map(({ callId, tool, paths }) => [`${named(callId)} ${tool}`, `OUTSIDE: ${list(paths)}`]),
            ],
    },
    {
      title: 'Approvals',
      columns: ['call', 'tool', 'answer', 'by', 'rules', 'paths'],
      none: 'Nothing had to be approved.',
      rows: report.approvals.map(({ callId, tool, how, by = '', rules, paths }) => [
        ...[named(callId), tool, answers[how], by, list(rules), list(paths)],
      ]),
    },
    {
      title: 'Taint',
      columns: ['label', 'came from', 'by call', 'tool'],
      none: 'Nothing labelled was read.',
      rows: report.taint.map(({ label, path = 'output of a command', callId, tool }) => [
        label,
        path,
        named(callId),
        tool,
      ]),
    },
  ]
}

const answers = {
  once: 'allowed once',
  run: 'allowed for the run',
  earlier: 'allowed earlier',
  denied: 'denied',
  required: 'never answered',
} as const

/**
 * A report as Markdown. Whatever stands in it from outside (paths, reasons, names) is escaped.
 *
 * @example
 * console.log(reportMarkdown(workspace.report(), workspace.verifyAudit()))
 */
export function reportMarkdown(report: RunReport, audit?: AuditCheck): string {
  const parts = reportSections(report, audit).map(({ title, columns, rows, none }) => {
    if (rows.length === 0) return `## ${title}\n\n${none}\n`
    const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(' | ')} |`
    return [`## ${title}\n`, line(columns), line(columns.map(() => '---')), ...rows.map(line), ''].join('\n')
  })
  return [`# Report of run ${escaped(report.runId)}\n`, ...parts].join('\n')
}

/** No mark of Markdown, no HTML, no line end. */
function escaped(cell: string): string {
  if (cell === '---') return cell
  return visible(cell).replace(/[\\`*_{}[\]<>()#|~!&]/g, (mark) => `\\${mark}`)
}

/** Control and formatting characters as their code points. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (char) => `u+${Number(char.codePointAt(0)).toString(16).padStart(4, '0')}`,
  )
}

function auditText(audit: AuditCheck): string {
  return audit.ok ? `${audit.count} records, chain intact` : `BROKEN at record ${audit.at + 1}: ${audit.reason}`
}

function short(version: string | null): string {
  return version === null ? 'none' : version.slice(0, 12)
}

const MOST = 20

function list(items: readonly string[]): string {
  const shown = items.slice(0, MOST).join(', ')
  return items.length > MOST ? `${shown} and ${items.length - MOST} more` : shown
}

function planText(
  { text, paths, callId, by }: NonNullable<RunReport['plan']>,
  named: (callId: string) => string,
): string {
  const where = paths === undefined ? '' : ` (${list(paths)})`
  return `${text.replace(/\s+/g, ' ').trim()}${where}, call ${named(callId)}${by === undefined ? '' : `, by ${by}`}`
}
