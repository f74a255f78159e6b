import type { CheckReport, Finding } from '../../call/state/checks.ts'
import { counted } from '../../util/counted.ts'

/**
 * Returns reports of checks as lines for a model: `Check NAME: 2 findings`, and a line for each finding, which begins with
 * `- `, or with `  | ` if its message goes on. So no finding looks like a line of another part of the result.
 *
 * @param spell writes a path as the caller does
 */
export function checkLines(checks: unknown, spell: (path: string) => string = (path) => path): string[] {
  // A hook may have changed the shape of a result.
  const reports = Array.isArray(checks) ? checks.filter(isReport) : []
  const passed = reports.filter((report) => report.problem === undefined && countOf(report) === 0)
  return [
    ...(passed.length === 0 ? [] : [`Checks without findings: ${passed.map(({ name }) => name).join(', ')}`]),
    ...reports.flatMap((report) => (passed.includes(report) ? [] : reportLines(report, spell))),
  ]
}

function isReport(value: unknown): value is CheckReport {
  const { name, findings } = Object(value)
  return (
    typeof name === 'string' && Array.isArray(findings) && findings.every((item) => typeof item?.message === 'string')
  )
}

function countOf({ findings, omitted = 0 }: CheckReport): number {
  return findings.length + omitted
}

function reportLines(report: CheckReport, spell: (path: string) => string): string[] {
  const { name, findings, omitted = 0, problem } = report
  const count = countOf(report)
  if (problem !== undefined && count === 0) return [`Check ${name} ${problem}`]
  return [
    ...(problem === undefined ? [] : [`Check ${name} ${problem}`]),
    `Check ${name}: ${counted(count, 'finding')}`,
    ...findings.flatMap((finding) => findingLines(finding, spell)),
    ...(omitted === 0 ? [] : [`- and ${omitted} more, which are not shown`]),
  ]
}

function findingLines({ path, line, column, severity, code, message }: Finding, spell: (path: string) => string) {
  const place = [path === undefined ? undefined : spell(path), line, column].filter((part) => part !== undefined)
  const kind = [severity, code].filter((part) => part !== undefined)
  const [first = '', ...others] = message.split(/\r\n|[\r\n\u2028\u2029]/)
  const parts = [place.join(':'), kind.join(' '), first].filter((part) => part !== '')
  return [`- ${parts.join(': ')}`, ...others.map((text) => `  | ${text}`)]
}
