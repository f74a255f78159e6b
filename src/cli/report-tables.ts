import { styleText } from 'node:util'
import type { AuditCheck } from '../audit/audit-log.ts'
import type { RunReport } from '../audit/report.ts'
import { reportSections, visible } from '../audit/report-text.ts'

/** Maximum width of a column. Longer cells are cut at their end. */
const MAX_WIDTH = 60

/** Formats a report as tables for a terminal. Control characters of the content are escaped. */
export function reportTables(report: RunReport, audit?: AuditCheck): string {
  return reportSections(report, audit)
    .map(({ title, columns, rows, none }) => {
      const head = styleText('bold', title)
      if (rows.length === 0) return `${head}\n  ${styleText('dim', none)}\n`
      const cells = rows.map((row) => row.map(formatCell))
      const widths = columns.map((column, i) =>
        Math.max(column.length, ...cells.map((row) => (row[i] as string).length)),
      )
      const line = (row: readonly string[]) =>
        row
          .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] as number)))
          .join('  ')
          .trimEnd()
      const names = columns.some((column) => column !== '') ? [`  ${styleText('dim', line(columns))}`] : []
      return [head, ...names, ...cells.map((row) => `  ${line(row)}`), ''].join('\n')
    })
    .join('\n')
}

function formatCell(cell: string): string {
  const text = visible(cell)
  return text.length > MAX_WIDTH ? `${text.slice(0, MAX_WIDTH - 1).replace(/[\ud800-\udbff]$/, '')}…` : text
}
