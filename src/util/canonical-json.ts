/**
 * JSON with the keys of every object sorted by UTF-16 units and no white space, so that equal data is equal text:
 * what is hashed and compared. Like JSON, it leaves out `undefined` and functions, and writes `null` for them in arrays.
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

/** Most texts need no escape, and a look is cheaper than JSON's own way. */
function quoted(text: string): string {
  return text.length > 200 || /["\\\u0000-\u001f\ud800-\udfff]/.test(text) ? JSON.stringify(text) : `"${text}"`
}
