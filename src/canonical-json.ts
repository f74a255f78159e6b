/**
 * JSON with the keys of every object sorted by UTF-16 units and no white space, so that equal data is equal text:
 * what is hashed and compared. Like JSON, it leaves out `undefined` and functions, and writes `null` for them in arrays.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item) ?? 'null').join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const source = value as Record<string, unknown>
    const members: string[] = []
    for (const key of Object.keys(source).sort()) {
      const text = canonicalJson(source[key])
      if (text !== undefined) members.push(`${JSON.stringify(key)}:${text}`)
    }
    return `{${members.join(',')}}`
  }
  return JSON.stringify(value)
}
