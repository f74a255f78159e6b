/** Returns a value. A promise that a synchronous callback returned by mistake must not reject unhandled. */
export function ignoreRejection(value: unknown): unknown {
  if (value instanceof Promise) value.catch(() => {})
  return value
}
