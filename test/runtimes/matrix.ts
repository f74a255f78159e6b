import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isLong } from '../counts.ts'
import { bundleProgram, type Platform, selectPortable } from './bundle.ts'
import { type Cell, cellOf, everywhere, TESTS } from './cell.ts'
import { runInChromium } from './host-chromium.ts'
import { runInProcess } from './host-process.ts'
import { runInWorkerd } from './host-workerd.ts'
import type { Report } from './report.ts'

/** The results of one runtime. */
export interface Ran {
  readonly cells: readonly Cell[]
  /** The test files that it ran. */
  readonly files: readonly string[]
  /** The cases of the contracts that it ran. */
  readonly contracts: readonly string[]
  /** The story over each backend. */
  readonly stories: Readonly<Record<string, string>>
}

export interface Runs {
  /** The test files that run without Node. */
  readonly files: readonly string[]
  readonly ran: Readonly<Record<string, Ran>>
  /** Tests of tools that only run in vitest, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>
}

interface Runtime {
  readonly program: string
  readonly platform: Platform
  /**
   * In `npm test`, the two runtimes of a platform share the cases of contracts: one runs the even ones, the other the odd ones.
   * All of them share the test files.
   */
  readonly turn: 0 | 1
  run(code: string): Promise<Report>
}

const runtimes: Readonly<Record<string, Runtime>> = {
  workerd: { program: 'program-web.ts', platform: 'web', turn: 0, run: runInWorkerd },
  Deno: { program: 'program-disk.ts', platform: 'node', turn: 0, run: (code) => runInProcess('Deno', code) },
  Bun: { program: 'program-disk.ts', platform: 'node', turn: 1, run: (code) => runInProcess('Bun', code) },
  Chromium: { program: 'program-web.ts', platform: 'web', turn: 1, run: runInChromium },
}

/** The runtimes other than Node, in which vitest itself runs the same cases. */
export const runtimeNames = Object.keys(runtimes)

/** Runs everything in the runtimes other than Node, two at a time. */
export async function runRuntimes(): Promise<Runs> {
  const { files, leftOut } = await selectPortable(testFiles().filter((file) => everywhere.test(file)))
  const bundles = new Map<string, Promise<string>>()
  const results: Record<string, Ran> = {}
  const waiting = [...runtimeNames]
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const { program, platform, turn, run } = runtimes[name] as Runtime
      const bundle = bundles.get(program) ?? bundleProgram(program, files, platform)
      bundles.set(program, bundle)
      const file = runtimeNames.indexOf(name)
      const shares = `wantsCase: (index) => index % 2 === ${turn}, wantsFile: (index) => index % ${runtimeNames.length} === ${file}`
      const selection = isLong ? '' : `globalThis.shares = { ${shares} }\n`
      const report = await run(`${selection}${await bundle}`)
      results[name] = {
        cells: cellsOf(name, report),
        files: report.files.map(({ name }) => name),
        contracts: contractsOf(report),
        stories: report.stories,
      }
    }
  }
  await Promise.all([work(), work()])
  return { ran: results, files, leftOut }
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

const contractsOf = ({ contracts }: Report): string[] =>
  contracts.flatMap(({ name, cases }) => cases.map((one) => `${name} > ${one.name}`))
