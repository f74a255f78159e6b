import type { Failure } from 'wardspace'

/** Number of times that the same call may have the same result in a row. */
const MAX_SAME = 2

/** Notices that a model makes the same call with the same result again and again. */
export class Repetition {
  #last = ''
  #count = 0
  /** Whether the model has repeated a call too often. */
  isFound = false

  /** Returns the failure of a call that is a repetition. */
  refuse(tool: string, input: unknown): Failure | undefined {
    const isSame = this.#last.startsWith(callOf(tool, input))
    if (!isSame || this.#count < MAX_SAME) return undefined
    this.isFound = true
    return {
      ok: false,
      code: 'LIMIT_EXCEEDED',
      message: `The same call of ${tool} had the same result ${MAX_SAME} times in a row and was not repeated`,
      hint: 'Do something else, or say why you cannot go on.',
    }
  }

  /** Notes a call that never reaches a tool, because the tool does not exist or the input is not readable. */
  noteFailed(tool: string, input: unknown, result: unknown): void {
    this.note(tool, input, result)
    if (this.#count > MAX_SAME) this.isFound = true
  }

  note(tool: string, input: unknown, result: unknown): void {
    const volatile = new Set(['callId', 'durationMs', 'modifiedAt'])
    const call = callOf(tool, input) + JSON.stringify(result, (key, value) => (volatile.has(key) ? undefined : value))
    this.#count = call === this.#last ? this.#count + 1 : 1
    this.#last = call
  }
}

function callOf(tool: string, input: unknown): string {
  return `${JSON.stringify([tool, input])}\n`
}
