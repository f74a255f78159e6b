/** A line of a git configuration: an optional header, an optional setting. */
const LINE = /^\s*(?:\[\s*([\w.-]+)(?:\s*"(.*)")?\s*\])?\s*(?:([a-z][\w-]*)\s*(?:=\s*(.*))?)?/i

/** Returns whether a setting such as `core.sparseCheckout` is true; `undefined` if a configuration does not have it. */
export function booleanSetting(text: string, section: string, key: string): boolean | undefined {
  let value: boolean | undefined
  for (const { at } of settingsIn(text, section)) {
    if (at?.key.toLowerCase() === key.toLowerCase()) value = /^(true|yes|on|1)?$/i.test(at.value)
  }
  return value
}

/** Returns a configuration with a setting. Its other lines stay as they are. */
export function withSetting(text: string, section: string, key: string, value: boolean): string {
  const lines = text.split('\n')
  const own = [...settingsIn(text, section)]
  const found = own.findLast(({ at }) => at?.key.toLowerCase() === key.toLowerCase())
  const setting = `\t${key} = ${value}`
  if (found !== undefined) {
    const line = lines[found.line] as string
    lines[found.line] = `${/^\s*\[[^\]]*\]/.exec(line)?.[0] ?? ''}${setting}`
    return lines.join('\n')
  }
  const last = own.at(-1)
  if (last !== undefined) {
    lines.splice(last.line + 1, 0, setting)
    return lines.join('\n')
  }
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}[${section}]\n${setting}\n`
}

/** Yields the lines of a section that are its header or a setting. */
function* settingsIn(text: string, section: string) {
  let isInside = false
  for (const [line, content] of text.split('\n').entries()) {
    const [, header, subsection, key, value = ''] = LINE.exec(content) ?? []
    if (header !== undefined) isInside = subsection === undefined && header.toLowerCase() === section
    if (!isInside || (header === undefined && key === undefined)) continue
    const plain = value
      .replace(/[#;].*/s, '')
      .replaceAll('"', '')
      .trim()
    yield { line, at: key === undefined ? undefined : { key, value: plain } }
  }
}
