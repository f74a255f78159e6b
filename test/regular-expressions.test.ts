import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { analyse } from 'scslre'
import { parseAst } from 'vite'
import { expect, it } from 'vitest'

const top = join(import.meta.dirname, '..')

/** Files whose regular expressions read short texts only, so that quadratic time is short too. */
const ofShortTexts: Readonly<Record<string, string>> = {
  'playground/session/number-text.ts': 'a number of at most 60 characters',
  'src/adapters/fs/errors.ts': 'the digits of a number that a program passes',
  'src/audit/file-lock.ts': 'a line of the kernel',
  'src/files/secrets/find.ts': 'the own patterns of the module',
  'src/paths/glob.ts': 'a glob of at most 4,096 characters',
  'src/paths/pattern-spelling.ts': 'a glob of at most 4,096 characters',
  'src/policy/network-policy.ts': 'a host of a policy',
  'src/policy/path-patterns.ts': 'a glob of at most 4,096 characters',
  'src/shells/analysis/inspectors.ts': 'a name of at most 100 characters',
}

interface Reported {
  readonly file: string
  readonly pattern: string
  readonly isExponential: boolean
}

function literalsOf(file: string): readonly { readonly pattern: string; readonly flags: string }[] {
  const literals: { pattern: string; flags: string }[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, regex } = node as { type?: string; regex?: { pattern: string; flags: string } }
    if (type === 'Literal' && regex) literals.push(regex)
    for (const child of Object.values(node)) visit(child)
  }
  visit(parseAst(readFileSync(join(top, file), 'utf8'), { lang: file.endsWith('x') ? 'tsx' : 'ts' }))
  return literals
}

const files = ['src', 'playground'].flatMap((directory) =>
  readdirSync(join(top, directory), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${directory}/${name.replaceAll('\\', '/')}`),
)

it('every regular expression takes linear time, except for short texts', () => {
  let count = 0
  const reported = files.flatMap((file): Reported[] =>
    literalsOf(file).flatMap(({ pattern, flags }) => {
      count += 1
      const { reports } = analyse({ source: pattern, flags })
      return reports.length === 0
        ? []
        : [{ file, pattern: `/${pattern}/${flags}`, isExponential: reports.some(({ exponential }) => exponential) }]
    }),
  )
  expect(count).toBeGreaterThan(1400)
  expect(reported.filter(({ file, isExponential }) => isExponential || !(file in ofShortTexts))).toEqual([])
  expect([...new Set(reported.map(({ file }) => file))].sort()).toEqual(Object.keys(ofShortTexts))
})

it('the analysis reports what takes exponential and quadratic time', () => {
  for (const pattern of [String.raw`^(?:[.-][\w-]+)*\.js$`, String.raw`\/+$`, String.raw`^\s*\d*\s*x`])
    expect([pattern, analyse({ source: pattern, flags: '' }).reports.length > 0]).toEqual([pattern, true])
})
