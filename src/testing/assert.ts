import type { ErrorCode, ToolError } from '../errors.ts'
import { isUint8Array } from '../util/bytes.ts'

/** Throws an Error if the condition is false. Every runner reports it as a failure, so none is imported. */
export function check(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message)
}

/** Compares plain data, bytes and maps by content. `label` names the value in the message. */
export function same(actual: unknown, expected: unknown, label: string): void {
  const a = format(actual)
  const b = format(expected)
  check(a === b, `${label}: expected ${shorten(b)}, got ${shorten(a)}`)
}

/** Compares bytes. The message contains the first position that differs instead of the bytes. */
export function sameBytes(actual: Uint8Array, expected: Uint8Array, label: string): void {
  check(actual.length === expected.length, `${label}: expected ${expected.length} bytes, got ${actual.length}`)
  let at = 0
  while (at < actual.length && actual[at] === expected[at]) at += 1
  check(at === actual.length, `${label}: byte ${at} differs`)
}

/** Runs an action that must fail with one of the codes, and returns its error. */
export async function refused(
  codes: ErrorCode | readonly ErrorCode[],
  label: string,
  action: () => unknown,
): Promise<ToolError> {
  const expected = typeof codes === 'string' ? [codes] : codes
  let value: unknown
  try {
    value = await action()
  } catch (error) {
    const { name, code, message } = error as ToolError
    check(name === 'ToolError', `${label}: expected a ToolError, got ${String(error)}`)
    check(expected.includes(code), `${label}: expected ${expected.join(' or ')}, got ${code}: ${message}`)
    return error as ToolError
  }
  throw new Error(`${label}: expected ${expected.join(' or ')}, but it succeeded with ${shorten(format(value))}`)
}

function format(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (part === undefined) return '(undefined)'
    if (isUint8Array(part)) return `bytes ${Array.from(part).join(' ')}`
    if (part instanceof Map) return [...part].sort(([a], [b]) => (a < b ? -1 : 1))
    if (part !== null && typeof part === 'object' && !Array.isArray(part)) {
      const record = part as Record<string, unknown>
      return Object.fromEntries(
        Object.keys(record)
          .sort()
          .map((key) => [key, record[key]]),
      )
    }
    return part
  }) as string
}

function shorten(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text
}
