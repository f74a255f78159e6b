import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import type { runs } from '../runtimes/fast-check-shim.ts'
import type { runFile, Watch } from '../runtimes/vitest-shim.ts'
import { bundleTests } from './bundle.ts'

/**
 * A Stryker plugin that implements `TestRunner`. Each mutant gets a fresh copy of all project code in the same process.
 * Properties have one seed and a fixed number of runs, so a test that passes without a mutant can only fail because of it.
 */
interface Bundle {
  readonly runs: typeof runs
  readonly runFile: typeof runFile
  readonly files: Readonly<Record<string, () => Promise<unknown>>>
}

/** The global through which Stryker's instrumented code and its runners communicate. */
interface Context {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: unknown
}

interface MutantRun {
  readonly testFilter?: readonly string[]
  readonly hitLimit?: number
  readonly activeMutant: { readonly id: string }
  readonly mutantActivation: 'runtime' | 'static'
}

/** A test that passed in the dry run. */
interface PassingTest {
  readonly id: string
  readonly stages: readonly Stage[]
}

/**
 * The order of tests for a mutant. `quick` and `slow` tests run with few runs of their properties. Tests that fail with few
 * runs are `whole`: they run last, if the mutant is still alive, and only if they are not too long.
 */
type Stage = 'quick' | 'slow' | 'whole'
const stages: readonly Stage[] = ['quick', 'slow', 'whole']
const FEW_RUNS = 200
const QUICK_MS = 20
const LONG_MS = 3000

const context: Context = (Reflect.get(globalThis, '__stryker__') as Context) ?? {}
Reflect.set(globalThis, '__stryker__', context)
fc.configureGlobal({ seed: 1, endOnFailure: true })

export const strykerPlugins = [{ kind: 'TestRunner', name: 'wardspace', factory: createRunner }]

function createRunner() {
  const top = process.cwd()
  const worker = process.env.STRYKER_MUTATOR_WORKER ?? '0'
  const bundle = join(top, `mutants-${worker}.mjs`)
  const passing = join(top, 'passing-tests.json')
  let loads = 0

  async function load(maxRuns: number): Promise<Bundle> {
    loads += 1
    const loaded: Bundle = await import(`${pathToFileURL(bundle).href}?${loads}`)
    loaded.runs.most = maxRuns
    return loaded
  }

  return {
    capabilities: () => ({ reloadEnvironment: true }),
    init: () => bundleTests(top, (process.env.WARDSPACE_MUTATION_TESTS ?? '').split(';'), bundle),
    async dryRun() {
      context.activeMutant = undefined
      const whole = await runAll(await load(Number.POSITIVE_INFINITY), () => true, false)
      const coverage = context.mutantCoverage
      const few = new Map((await runAll(await load(FEW_RUNS), () => true, false)).map((result) => [result.id, result]))
      const passed = whole.filter(({ why }) => why === undefined)
      for (const { id, why } of whole) if (why !== undefined) console.error(`Skipped because it fails: ${id}\n${why}`)
      writeFileSync(passing, JSON.stringify(passed.map((result) => passingTest(result, few.get(result.id)))))
      const tests = passed.map(({ id, ms }) => ({ id, name: id, timeSpentMs: ms, status: 0 }))
      return { status: 'complete', tests, mutantCoverage: coverage }
    },
    async mutantRun({ testFilter, hitLimit, activeMutant, mutantActivation }: MutantRun) {
      const tests = JSON.parse(readFileSync(passing, 'utf8')) as PassingTest[]
      const filter = testFilter === undefined ? undefined : new Set(testFilter)
      const selected = tests.filter(({ id }) => filter?.has(id) ?? true)
      context.hitCount = 0
      context.hitLimit = hitLimit
      let count = 0
      for (const stage of stages) {
        const ids = new Set(selected.filter((test) => test.stages.includes(stage)).map(({ id }) => id))
        if (ids.size === 0) continue
        context.activeMutant = mutantActivation === 'static' ? activeMutant.id : undefined
        const loaded = await load(stage === 'whole' ? Number.POSITIVE_INFINITY : FEW_RUNS)
        const results = await runAll(
          loaded,
          (id) => ids.has(id),
          true,
          () => {
            context.activeMutant = activeMutant.id
          },
        )
        count += results.length
        if (hitLimit !== undefined && context.hitCount > hitLimit) return { status: 'timeout', reason: 'Hit limit' }
        const failed = results.find(({ why }) => why !== undefined)
        if (failed !== undefined) {
          return { status: 'killed', killedBy: [failed.id], failureMessage: failed.why, nrOfTests: count }
        }
      }
      return { status: 'survived', nrOfTests: count }
    },
  }
}

function passingTest({ id, ms }: Result, few: Result | undefined): PassingTest {
  if (few !== undefined && few.why === undefined) return { id, stages: [few.ms <= QUICK_MS ? 'quick' : 'slow'] }
  if (ms > LONG_MS) console.error(`Skipped because it fails with few runs and is slow with all: ${id}`)
  return { id, stages: ms > LONG_MS ? [] : ['whole'] }
}

interface Result {
  readonly id: string
  readonly ms: number
  readonly why: string | undefined
}

/** Runs the tests that `wants` selects in all files. With `endsEarly`, stops at the first failure. */
async function runAll(
  { files, runFile }: Bundle,
  wants: (id: string) => boolean,
  endsEarly: boolean,
  activate: () => void = () => {},
): Promise<Result[]> {
  const results: Result[] = []
  const hasEnded = () => endsEarly && results.some(({ why }) => why !== undefined)
  for (const [file, loadFile] of Object.entries(files)) {
    const idOf = (name: string) => `${file} # ${name}`
    let start = 0
    const watch: Watch = {
      wants: (name) => !hasEnded() && wants(idOf(name)),
      starts(name) {
        activate()
        context.currentTestId = idOf(name)
        start = performance.now()
      },
      ends({ name, why, status }) {
        context.currentTestId = undefined
        const failed = status === 'failed' ? (why ?? 'failed') : undefined
        results.push({ id: idOf(name), ms: performance.now() - start, why: failed })
      },
    }
    await runFile(file, loadFile, watch)
    if (hasEnded()) break
  }
  return results
}
