/** Lines of context around a change. */
const CONTEXT = 2

/** Returns a unified diff that changes lines one by one, or an empty text if no line changes. */
export function linePatch(path: string, text: string, change: (line: string) => string): string {
  const lines = text.replace(/\n$/, '').split('\n')
  const changed = lines.flatMap((line, at) => (change(line) === line ? [] : [at]))
  if (changed.length === 0) return ''
  const hunks: { from: number; to: number }[] = []
  for (const at of changed) {
    const from = Math.max(0, at - CONTEXT)
    const to = Math.min(lines.length, at + CONTEXT + 1)
    const last = hunks.at(-1)
    if (last !== undefined && from <= last.to) last.to = to
    else hunks.push({ from, to })
  }
  const body = hunks.map(({ from, to }) => {
    const size = `${from + 1},${to - from}`
    const hunk = lines.slice(from, to).map((line) => {
      const newLine = change(line)
      return newLine === line ? ` ${line}\n` : `-${line}\n+${newLine}\n`
    })
    return `@@ -${size} +${size} @@\n${inBlocks(hunk)}`
  })
  return `--- a/${path}\n+++ b/${path}\n${body.join('')}`
}

/** Puts the removed lines of adjacent changes before the added lines. */
function inBlocks(hunk: readonly string[]): string {
  let text = ''
  let removed = ''
  let added = ''
  for (const one of [...hunk, ' ']) {
    if (one.startsWith('-')) {
      const [before = '', after = ''] = one.split(/(?<=\n)(?=\+)/)
      removed += before
      added += after
    } else {
      text += removed + added + (one === ' ' ? '' : one)
      removed = ''
      added = ''
    }
  }
  return text
}

/** Rewrites `name(subject, ...rest)` as `subject.method(...rest)`. The arguments may contain calls. */
export function asMethod(code: string, name: string, method: string): string {
  const at = code.search(new RegExp(`\\b${name}\\(`))
  if (at === -1) return code
  const begin = at + name.length + 1
  let depth = 0
  let firstComma = -1
  for (let i = begin; i < code.length; i++) {
    const sign = code[i]
    if (sign === '(') depth++
    else if (sign === ',' && depth === 0 && firstComma === -1) firstComma = i
    else if (sign === ')' && depth-- === 0) {
      if (firstComma === -1) return code
      const subject = code.slice(begin, firstComma)
      const rest = asMethod(code.slice(firstComma + 1, i).trim(), name, method)
      return `${code.slice(0, at)}${subject}.${method}(${rest})${asMethod(code.slice(i + 1), name, method)}`
    }
  }
  return code
}
