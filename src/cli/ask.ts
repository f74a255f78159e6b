import { userInfo } from 'node:os'
import { createInterface, type Interface } from 'node:readline'
import { styleText } from 'node:util'
import type { ApprovalAnswer, ApproveHandler } from '../policy/approval.ts'
import { approvalText } from '../policy/approval-text.ts'

/** Asks in the terminal. */
export interface TerminalApprovals {
  readonly approve: ApproveHandler
  close(): void
}

const question = 'Allow it? [y] once, [r] for this run, [n] no, or say why not: '

/**
 * Approvals asked on stderr and answered by a line of stdin: `y` allows once, `r` for the run, anything else denies, with the
 * line as the reason. The end of stdin denies. Questions wait for each other.
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

/** An answer as a person types it: `yes`, `run`, or why not. */
export function answerOf(typed: string): ApprovalAnswer {
  const line = typed.trim()
  const by = whoever()
  if (/^y(?:es)?$/i.test(line)) return { allow: 'once', by }
  if (/^r(?:un)?$/i.test(line)) return { allow: 'run', by }
  return { deny: line === '' || /^no?$/i.test(line) ? 'refused in the terminal' : line.slice(0, 2000), by }
}

/** Whoever runs the program, for the record. */
function whoever(): string {
  try {
    return userInfo().username
  } catch {
    /* v8 ignore next -- @preserve: a system in which the user has no name */
    return 'terminal'
  }
}
