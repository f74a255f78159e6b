import { userInfo } from 'node:os'
import { createInterface, type Interface } from 'node:readline'
import { styleText } from 'node:util'
import type { ApprovalAnswer, ApproveHandler } from '../policy/approval.ts'
import { approvalText } from '../policy/approval-text.ts'

/** Asks for approvals in the terminal. */
export interface TerminalApprovals {
  readonly approve: ApproveHandler
  close(): void
}

const question = 'Allow it? [y] once, [r] for this run, [n] no, or say why not: '

/**
 * Asks for approvals on stderr and reads a line of stdin: `y` allows once, `r` allows for the run, anything else denies with
 * the line as the reason. The end of stdin denies. Only one question is open at a time.
 */
export function askInTerminal(): TerminalApprovals {
  let lines: Interface | undefined
  let waiting: AsyncIterator<string> | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function answerTo(text: string): Promise<ApprovalAnswer> {
    lines ??= createInterface({ input: process.stdin, terminal: false })
    waiting ??= lines[Symbol.asyncIterator]()
    process.stderr.write(
      `\n${styleText('bold', 'Approval needed', { stream: process.stderr })}\n${text}\n\n${question}`,
    )
    const { value, done } = await waiting.next()
    if (done === true) {
      process.stderr.write('\n')
      return { deny: 'nobody answered' }
    }
    return answerOf(String(value))
  }

  return {
    approve(request) {
      const answer = last.then(() => answerTo(approvalText(request)))
      last = answer.catch(() => {})
      return answer
    },
    close() {
      lines?.close()
      process.stdin.unref?.()
    },
  }
}

/** Parses an answer as typed: `yes`, `run`, or the reason for a denial. */
export function answerOf(typed: string): ApprovalAnswer {
  const line = typed.trim()
  const by = userName()
  if (/^y(?:es)?$/i.test(line)) return { allow: 'once', by }
  if (/^r(?:un)?$/i.test(line)) return { allow: 'run', by }
  return { deny: line === '' || /^no?$/i.test(line) ? 'refused in the terminal' : line.slice(0, 2000), by }
}

/** Returns the name of the user who runs the program, for the audit record. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    /* v8 ignore next -- @preserve: on some systems the user has no name */
    return 'terminal'
  }
}
