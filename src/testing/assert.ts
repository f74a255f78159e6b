import type { ErrorCode, ToolError } from '../errors.ts'

/** Fails a case. Any runner takes a thrown Error for a failure, so that none has to be imported. */
export function check(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message)
}

/** Compares plain data, bytes and maps by their content. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const a = show(actual)
  const b = show(expected)
  check(a === b, `${what}: expected ${shorten(b)}, got ${shorten(a)}`)
}

/** Compares bytes without writing them out. */
export function sameBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  check(actual.length === expected.length, `${what}: expected ${expected.length} bytes, got ${actual.length}`)
  const at = actual.findIndex((byte, i) => byte !== expected[i])
  check(at === -1, `${what}: byte ${at} differs`)
}

/** Runs what must be refused with one of the codes, and gives the error. */
export async function refused(
  codes: ErrorCode | readonly ErrorCode[],
  what: string,
  action: () => unknown,
): Promise<ToolError> {
  const wanted = typeof codes === 'string' ? [codes] : codes
  let value: unknown
  try {
    value = await action()
  } catch (error) {
    const { name, code, message } = error as ToolError
    check(name === 'ToolError', `${what}: expected a ToolError, got ${String(error)}`)
    check(wanted.includes(code), `${what}: expected ${wanted.join(' or ')}, got ${code}: ${message}`)
    return error as ToolError
  }
  throw new Error(`${what}: expected ${wanted.join(' or ')}, but it went through with ${shorten(show(value))}`)
}

function show(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (part === undefined) return '(undefined)'
    if (part instanceof Uint8Array) return `bytes ${Array.from(part).join(' ')}`
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
