import { isOutOfCredit } from './error-words.ts'

/** Milliseconds to wait for a server that is overloaded and names no time. */
const DEFAULT_WAIT = 10_000
const overloaded: ReadonlySet<unknown> = new Set([429, 500, 502, 503, 504, 529])

/** What is known about an error of a model. */
export interface DescribedError {
  readonly message: string
  readonly canRetry: boolean
  readonly retryAfterMs?: number
  /** Whether the conversation is longer than the context of the model. */
  readonly isTooLong?: boolean
}

/** How servers say that a conversation is longer than the context of the model. */
const tooLong =
  /context.{0,20}(length|window|size|limit)|prompt is too long|too many (input )?tokens|maximum.{0,30}tokens|reduce the length/i

/** Describes an error of a model. */
export function describeError(error: unknown): DescribedError {
  const { name, message, statusCode: answered, isRetryable, lastError, responseHeaders, responseBody } = asFields(error)
  if (lastError !== undefined) return describeError(lastError)
  const text = typeof message === 'string' && message !== '' ? message : String(error)
  // The status of an answer that breaks off is below 400.
  const statusCode = typeof answered === 'number' && answered >= 400 ? answered : undefined
  const status = statusCode === undefined ? '' : `${statusCode}: `
  // The browser's own model has an error for it.
  const isRefused = statusCode === 400 || statusCode === 413 || statusCode === 422
  const isTooLong = name === 'QuotaExceededError' || (isRefused && tooLong.test(text))
  const wait = asFields(responseHeaders)['retry-after']
  const isFinal = statusCode === 429 && wait === undefined && isOutOfCredit(`${text} ${responseBody}`)
  return {
    // Some servers say it only by the code of the error.
    message: `${status}${text}${isFinal && !isOutOfCredit(text) ? ' (insufficient quota)' : ''}`,
    canRetry: statusCode === undefined || isRetryable === true,
    ...(isTooLong && { isTooLong }),
    ...(overloaded.has(statusCode) && !isFinal && { retryAfterMs: waitOf(wait) }),
  }
}

/** Parses the header: seconds or a date. */
function waitOf(header: unknown): number {
  if (typeof header !== 'string' || header === '') return DEFAULT_WAIT
  const seconds = Number(header)
  const ms = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000
  return Number.isNaN(ms) ? DEFAULT_WAIT : Math.max(ms, 0)
}

function asFields(error: unknown): Readonly<Record<string, unknown>> {
  if (typeof error === 'string') return { message: error }
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
}
