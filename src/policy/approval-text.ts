import { redact } from '../files/secrets/index.ts'
import type { ApprovalRequest } from './approval.ts'

/** What is shown of a preview, in UTF-16 units. */
const MOST_DIFF = 6000
const MOST_INPUT = 2000

/**
 * A request for approval as a person reads it: what is asked and why, the risks, and the preview. Nothing in it can move a
 * cursor, hide text or turn it around: it holds what an agent wrote. Recognised secrets stand as marks.
 */
export function approvalText({ tool, input, accesses, verdict, risks, diff }: Omit<ApprovalRequest, 'id'>): string {
  const paths = [...new Set(accesses.map(({ asked }) => (asked === '' ? '.' : asked)))]
  const reason = typeof input.reason === 'string' ? [`It says why: ${plain(input.reason, MOST_INPUT)}`] : []
  const what = diff === undefined || diff === '' ? [plain(JSON.stringify(input, marked), MOST_INPUT)] : []
  return [
    `${plain(tool, 100)}${paths.length === 0 ? '' : ` on ${plain(paths.slice(0, 20).join(', '), MOST_INPUT)}`}`,
    plain(verdict.reason, MOST_INPUT),
    ...reason,
    ...risks.map(({ flag, path }) => `Risk: ${flag} (${plain(path, 300)})`),
    ...(typeof input.plan === 'string' ? [plain(input.plan, MOST_DIFF)] : what),
    ...(diff === undefined || diff === '' ? [] : ['', plain(diff, MOST_DIFF)]),
  ].join('\n')
}

/** A secret over several lines is known as one only before they are written as JSON. */
function marked(_: string, value: unknown): unknown {
  return typeof value === 'string' ? redact(value).text : value
}

/** Line ends and tabs stay; every other control or format character is written out. */
function plain(text: string, most: number): string {
  const shown = redact(text).text
  const cut = shown.length > most ? `${shown.slice(0, most)}\n… ${shown.length - most} more characters` : shown
  return cut
    .replace(/\r\n/g, '\n')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (char) =>
      char === '\n' || char === '\t' ? char : `\\u{${Number(char.codePointAt(0)).toString(16)}}`,
    )
}
