import type { Failure } from 'wardspace'

/** Number of times that the same calls may have the same results in a row. */
const MAX_SAME = 2
/** Maximum number of calls that are recognized as repeating each other in turn: A, B, A, B. */
const MAX_PERIOD = 8

/** Notices that a model makes the same calls with the same results again and again, one or several in turn. */
export class Repetition {
  /** The last calls with their results. */
  #recent: readonly string[] = []
  /** Whether the model has repeated its calls too often. */
  isFound = false

  /** Returns the failure of a call that is a repetition. */
  refuse(tool: string, input: unknown): Failure | undefined {
    const period = this.#periodBefore((earlier) => earlier.startsWith(callOf(tool, input)))
    if (period === undefined) return undefined
    this.isFound = true
    const what =
      period === 1 ? `The same call of ${tool} had the same result` : `The same ${period} calls had the same results`
    return {
      ok: false,
      code: 'LIMIT_EXCEEDED',
      message: `${what} ${MAX_SAME} times in a row and ${tool} was not called again`,
      hint: 'Do something else, or say why you cannot go on.',
    }
  }

  /** Notes a call that never reaches a tool, because the tool does not exist or the input is not readable. */
  noteFailed(tool: string, input: unknown, result: unknown): void {
    const call = noted(tool, input, result)
    if (this.#periodBefore((earlier) => earlier === call) !== undefined) this.isFound = true
    this.note(tool, input, result)
  }

  note(tool: string, input: unknown, result: unknown): void {
    this.#recent = [...this.#recent, noted(tool, input, result)].slice(-MAX_PERIOD * MAX_SAME)
  }

  /** Returns the number of calls that the last ones repeat in turn, if the next one would repeat them once more. */
  #periodBefore(isNext: (earlier: string) => boolean): number | undefined {
    const calls = this.#recent
    for (let period = 1; period * MAX_SAME <= calls.length; period++) {
      const repeats = calls.slice(-period * (MAX_SAME - 1)).every((call, at, last) => {
        return call === calls[calls.length - last.length - period + at]
      })
      if (repeats && isNext(calls[calls.length - period] ?? '')) return period
    }
    return undefined
  }
}

const volatile = new Set(['callId', 'durationMs', 'modifiedAt'])

function noted(tool: string, input: unknown, result: unknown): string {
  return callOf(tool, input) + JSON.stringify(result, (key, value) => (volatile.has(key) ? undefined : value))
}

function callOf(tool: string, input: unknown): string {
  return `${JSON.stringify([tool, input])}\n`
}
