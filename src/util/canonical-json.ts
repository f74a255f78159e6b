/**
 * Formats JSON with the keys of every object sorted by UTF-16 units and without white space, so that equal data gives equal
 * text to hash and compare. Like JSON, omits `undefined` and functions, and writes `null` for them in arrays.
 */
export function canonicalJson(value: unknown): string {
  return textOf(value) ?? 'null'
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${textOf(item) ?? 'null'}`
    return `[${text}]`
  }
  const source = value as Record<string, unknown>
  for (const key of Object.keys(source).sort()) {
    const member = textOf(source[key])
    if (member !== undefined) text += `${text === '' ? '' : ','}${quoted(key)}:${member}`
  }
  return `{${text}}`
}

/** Quotes a text. Most texts need no escape, and checking for one is faster than `JSON.stringify`. */
function quoted(text: string): string {
  return text.length > 200 || /["\\\u0000-\u001f\ud800-\udfff]/.test(text) ? JSON.stringify(text) : `"${text}"`
}
