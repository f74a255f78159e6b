import { ToolError } from '../../errors.ts'
import { redact } from '../../files/secrets/index.ts'
import { parsePath } from '../../paths/logical-path.ts'
import { checkOptions, isAnything, isOneOf, isPositive, isText, type OptionTable } from '../../util/check-options.ts'
import type { Finding } from '../state/checks.ts'
import type { CheckFileView } from './check-files.ts'

/** UTF-16 units of a code. */
const MAX_CODE = 64

/**
 * Reads what a check returned. Secrets in it are replaced by marks, and findings about files that are hidden from the agent
 * are left out. `errors`: what is wrong with the items that are no findings.
 *
 * @throws TypeError for anything but a list
 */
export function readFindings(
  found: unknown,
  view: CheckFileView,
): { readonly findings: readonly Finding[]; readonly errors: readonly TypeError[] } {
  if (!Array.isArray(found)) throw new TypeError('A check must return a list of findings')
  const findings: Finding[] = []
  const errors: TypeError[] = []
  for (const item of found as unknown[]) {
    try {
      const finding = readFinding(typeof item === 'string' ? { message: item } : item)
      if (finding.path === undefined || view.lists(finding.path)) findings.push(finding)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      errors.push(error)
    }
  }
  return { findings, errors }
}

/** The fields of a finding. The path is checked apart. */
const findingTable: OptionTable<Finding> = {
  path: isAnything,
  line: isPositive,
  column: isPositive,
  severity: isOneOf('error', 'warning'),
  code: isAnything,
  message: isText,
}

function readFinding(value: unknown): Finding {
  const { path = '.', severity, code, message, ...place } = checkOptions('a finding', value, findingTable, 'message')
  if (place.column && !place.line) throw new TypeError('The column of a finding needs a line')
  return {
    ...(path === '.' ? {} : { path: readPath(path) }),
    ...place,
    ...(severity === 'warning' && { severity }),
    ...(code !== undefined && { code: redact(String(code)).text.replace(/\s+/g, ' ').slice(0, MAX_CODE) }),
    message: redact(message.trim()).text,
  }
}

function readPath(path: unknown): string {
  try {
    if (typeof path === 'string') return parsePath(path)
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
  }
  throw new TypeError('The path of a finding must be one of the workspace, such as "src/app.ts"')
}
