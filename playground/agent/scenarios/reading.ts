import type { ToolResult } from 'wardspace'

/** What a command printed. */
export function outputOf({ stdout, stderr }: Extract<ToolResult<'run_command'>, { ok: true }>): string {
  return stderr === '' ? stdout : `${stdout}\n${stderr}`
}

export interface FailingTest {
  readonly name: string
  readonly file: string
  /** What was expected and what was there. */
  readonly detail: string
}

/** The failing tests in what `node --test` prints. */
export function failingTests(output: string): FailingTest[] {
  const [, listed = ''] = output.split('failing tests:')
  return [...listed.matchAll(/test at (\S+?)(?::\d+)*\n✖ (.+?)(?: \([\d.]+ms\))?\n([\s\S]*?)(?=\ntest at |$)/g)].map(
    ([, file = '', name = '', body = '']) => ({
      file,
      name,
      detail: `\`${/^\s*(\S.* !== .*)$/m.exec(body)?.[1] ?? body.split('\n')[0]?.trim() ?? ''}\``,
    }),
  )
}

/** The modules of the project that a module imports, by path. */
export function importsOf(path: string, code: string): string[] {
  return [...code.matchAll(/from '(\.[^']+)'/g)].map(([, to = '']) => resolved(path, to))
}

function resolved(from: string, to: string): string {
  const parts = from.split('/').slice(0, -1)
  for (const part of to.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.') parts.push(part)
  }
  return parts.join('/')
}

export interface Line {
  readonly number: number
  readonly text: string
}

/** The first line that matches. */
export function lineOf(text: string, pattern: RegExp): Line | undefined {
  const lines = text.split('\n')
  const at = lines.findIndex((line) => pattern.test(line))
  return at === -1 ? undefined : { number: at + 1, text: lines[at] ?? '' }
}

/** Names in a row: `a`, `b` and `c`. */
export function quoted(names: readonly string[]): string {
  const marked = names.map((name) => `\`${name}\``)
  return marked.length < 2 ? marked.join('') : `${marked.slice(0, -1).join(', ')} and ${marked.at(-1)}`
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
