import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { bundleProgram, type Platform, selectPortable } from './bundle.ts'
import { runInChromium } from './host-chromium.ts'
import { runInProcess } from './host-process.ts'
import { runInWorkerd } from './host-workerd.ts'
import type { CaseResult, Report } from './report.ts'

/** One backend in one runtime, or the tools' tests in it. */
export interface Cell {
  readonly runtime: string
  readonly row: string
  readonly passed: number
  readonly failed: readonly string[]
  /** How many cases were left out, by reason. */
  readonly skipped: Readonly<Record<string, number>>
}

export interface Matrix {
  readonly cells: readonly Cell[]
  /** The story that each runtime and backend told: `Chromium, memory` → text. */
  readonly stories: Readonly<Record<string, string>>
  /** Tests of tools that run only where vitest does, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>
}

interface Runtime {
  readonly program: string
  readonly platform: Platform
  run(code: string): Promise<Report>
}

const runtimes: Readonly<Record<string, Runtime>> = {
  Node: { program: 'program-disk.ts', platform: 'node', run: (code) => runInProcess('Node', code) },
  Chromium: { program: 'program-web.ts', platform: 'web', run: runInChromium },
  workerd: { program: 'program-workerd.ts', platform: 'web', run: runInWorkerd },
  Deno: { program: 'program-disk.ts', platform: 'node', run: (code) => runInProcess('Deno', code) },
  Bun: { program: 'program-disk.ts', platform: 'node', run: (code) => runInProcess('Bun', code) },
}

/** The row of the test files. */
export const TESTS = "tools' tests"

/**
 * What runs everywhere: the tools, and what they rest on that a platform could do otherwise. Tests of pure rules, of
 * costs and of the contract itself run in Node alone.
 */
const everywhere = /^test\/(tools\/|evidence\/|search\/matches|(workspace|resume)\.test)/

/** Runs all cells, two runtimes at a time. */
export async function runMatrix(names: readonly string[] = Object.keys(runtimes)): Promise<Matrix> {
  const { files, leftOut } = await selectPortable(testFiles().filter((file) => everywhere.test(file)))
  const bundles = new Map<string, Promise<string>>()
  const cells = new Map<string, readonly Cell[]>()
  const stories: Record<string, string> = {}
  const waiting = [...names]
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const { program, platform, run } = runtimes[name] as Runtime
      const bundle = bundles.get(program) ?? bundleProgram(program, files, platform)
      bundles.set(program, bundle)
      const report = await run(await bundle)
      cells.set(name, cellsOf(name, report))
      for (const [backend, story] of Object.entries(report.stories)) stories[`${name}, ${backend}`] = story
    }
  }
  await Promise.all([work(), work()])
  return { cells: names.flatMap((name) => cells.get(name) ?? []), stories, leftOut }
}

function testFiles(): string[] {
  const test = join(import.meta.dirname, '..')
  return readdirSync(test, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .sort()
}

function cellsOf(runtime: string, { contracts, files }: Report): Cell[] {
  const tests = files.flatMap(({ name, cases }) => cases.map((one) => ({ ...one, name: `${name} > ${one.name}` })))
  return [...contracts, { name: TESTS, cases: tests }].map(({ name, cases }) => cellOf(runtime, name, cases))
}

function cellOf(runtime: string, row: string, cases: readonly CaseResult[]): Cell {
  const skipped: Record<string, number> = {}
  for (const { status, why = '' } of cases) if (status === 'skipped') skipped[why] = (skipped[why] ?? 0) + 1
  return {
    runtime,
    row,
    passed: cases.filter(({ status }) => status === 'passed').length,
    failed: cases.filter(({ status }) => status === 'failed').map(({ name, why }) => `${name}\n${why}`),
    skipped,
  }
}
