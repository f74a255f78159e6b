import { redact } from '../files/secrets/index.ts'
import { counted } from '../util/counted.ts'
import { escapeInvisible } from '../util/escape-invisible.ts'
import type { ApprovalQuestion } from './approval.ts'

/** Maximum lengths in UTF-16 units. */
const MAX_DIFF = 6000
const MAX_INPUT = 2000
/** Paths that are named. */
const MAX_PATHS = 20

/**
 * Formats an approval request for a person: the call, the reason, the risks and the preview. Control and format characters
 * are escaped, because an agent wrote the content and could otherwise move the cursor, hide text or reverse it. Recognized
 * secrets are replaced by marks.
 */
export function approvalText(question: ApprovalQuestion): string {
  const { call, diff } = approvalParts(question)
  return diff === '' ? call : `${call}\n\n${diff}`
}

/** Returns the two parts of {@link approvalText}. Without a diff, its part is empty. */
export function approvalParts({ tool, input, accesses, verdict, risks, diff = '' }: ApprovalQuestion): {
  readonly call: string
  readonly diff: string
} {
  const paths = [...new Set(accesses.map(({ asked }) => (asked === '' ? '.' : asked)))]
  const reason = typeof input.reason === 'string' ? [`Reason given: ${plain(input.reason, MAX_INPUT)}`] : []
  const { plan, reason: _, ...fields } = input
  // Such as the paths that become the scope of the task.
  const others = Object.keys(fields).length === 0 ? [] : [plain(JSON.stringify(fields, marked), MAX_INPUT)]
  const isCommand = accesses.some(({ permission }) => permission.startsWith('command:'))
  const preview = isCommand || diff === '' ? [plain(JSON.stringify(input, marked), MAX_INPUT)] : []
  const lines = [
    `${plain(tool, 100)}${paths.length === 0 ? '' : ` on ${plain(listed(paths), MAX_INPUT)}`}`,
    plain(verdict.reason, MAX_INPUT),
    ...reason,
    ...risks.map(({ flag, path }) => `Risk: ${flag} (${plain(path, 300)})`),
    ...(typeof plan === 'string' ? [plain(plan, MAX_DIFF), ...others] : preview),
  ]
  return { call: lines.join('\n'), diff: plain(diff, MAX_DIFF) }
}

/** The first paths, and how many more there are. */
function listed(paths: readonly string[]): string {
  const rest = paths.length - MAX_PATHS
  return `${paths.slice(0, MAX_PATHS).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** Redacts before serialization, because a secret over several lines is not recognized in JSON. */
function marked(_: string, value: unknown): unknown {
  return typeof value === 'string' ? redact(value).text : value
}

/** Redacts and shortens a text, and escapes every control and format character except line ends and tabs. */
function plain(text: string, maxLength: number): string {
  const redacted = redact(text).text
  const cut =
    redacted.length > maxLength
      ? `${redacted.slice(0, maxLength)}\n… ${counted(redacted.length - maxLength, 'more character')}`
      : redacted
  return escapeInvisible(cut)
}
