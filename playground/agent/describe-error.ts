/** Describes an error of a model for people. */
export function describeError(error: unknown): { readonly message: string; readonly canRetry: boolean } {
  const { message, statusCode, isRetryable, lastError } = asFields(error)
  if (lastError !== undefined) return describeError(lastError)
  const text = typeof message === 'string' && message !== '' ? message : String(error)
  const status = typeof statusCode === 'number' ? `${statusCode}: ` : ''
  return { message: `${status}${text}`, canRetry: statusCode === undefined || isRetryable === true }
}

function asFields(error: unknown): Readonly<Record<string, unknown>> {
  if (typeof error === 'string') return { message: error }
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
}
