import type { ToolResult } from 'wardspace'

/** The output of a command. */
export function outputOf({ stdout, stderr }: Extract<ToolResult<'run_command'>, { ok: true }>): string {
  return stderr === '' ? stdout : `${stdout}\n${stderr}`
}

export interface FailingTest {
  readonly name: string
  readonly file: string
  /** The expected and the actual value. */
  readonly detail: string
}

/** Parses the failing tests from the output of `node --test`. */
export function failingTests(output: string): FailingTest[] {
  const [, listed = ''] = output.split('failing tests:')
  return [...listed.matchAll(/test at (\S+?)(?::\d+)*\n✖ (.+?)(?: \([\d.]+ms\))?\n([\s\S]*?)(?=\ntest at |$)/g)].map(
    ([, file = '', name = '', body = '']) => ({
      file,
      name,
      detail: `\`${/^[ \t]*(\S.* !== .*)$/m.exec(body)?.[1] ?? body.split('\n')[0]?.trim() ?? ''}\``,
    }),
  )
}

/** Whether `node --test` has run a test. */
export function hasTests(output: string): boolean {
  return /^. tests [1-9]/m.test(output)
}

/** Says how the tests went. */
export function testVerdict(tests: { readonly [field: string]: unknown } | undefined): string {
  if (tests?.ok !== true) return `The tests could not be run: ${tests?.message}.`
  if (tests.exitCode !== 0) return 'The tests fail now.'
  return hasTests(String(tests.stdout)) ? 'All tests pass.' : 'There are no tests to run.'
}

/** The last line of an output, without a final period. */
export function lastLine(output: string): string {
  return (output.trim().split('\n').at(-1) ?? '').replace(/\.$/, '') || 'it says nothing'
}

/** Returns the paths of the project modules that a module imports. */
export function importsOf(path: string, code: string): string[] {
  return [...code.matchAll(/from '(\.[^']+)'/g)].map(([, to = '']) => resolvePath(path, to))
}

function resolvePath(from: string, to: string): string {
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

/** Returns the first line that matches. */
export function lineOf(text: string, pattern: RegExp): Line | undefined {
  const lines = text.split('\n')
  const at = lines.findIndex((line) => pattern.test(line))
  return at === -1 ? undefined : { number: at + 1, text: lines[at] ?? '' }
}

/** Lists names in backticks: `a`, `b` and `c`. */
export function quoted(names: readonly string[]): string {
  const marked = names.map((name) => `\`${name}\``)
  return marked.length < 2 ? marked.join('') : `${marked.slice(0, -1).join(', ')} and ${marked.at(-1)}`
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
