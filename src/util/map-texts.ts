/**
 * Returns data with every text in it, also the names of fields, replaced by what `change` returns for it. What has no changed
 * text is the same object as before. Fields in `except` stay as they are.
 */
export function mapTexts<T>(value: T, change: (text: string) => string, except?: ReadonlySet<string>): T {
  return mapped(value, change, except) as T
}

function mapped(value: unknown, change: (text: string) => string, except: ReadonlySet<string> | undefined): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    let items: unknown[] | undefined
    for (const [index, item] of value.entries()) {
      const changed = mapped(item, change, except)
      if (changed === item) continue
      items ??= value.slice()
      items[index] = changed
    }
    return items ?? value
  }
  let copy: Record<string, unknown> | undefined
  for (const field of Object.keys(value)) {
    if (except?.has(field) === true) continue
    const content = (value as Record<string, unknown>)[field]
    const changedField = change(field)
    const changed = mapped(content, change, except)
    if (changed === content && changedField === field) continue
    copy ??= { ...value }
    if (changedField !== field) delete copy[field]
    copy[changedField] = changed
  }
  return copy ?? value
}
