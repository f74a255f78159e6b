import { bash } from '../../src/shells/bash/index.ts'
import { type BackendSubject, backendContract, type ContractCase, shellContract } from '../../src/testing/index.ts'
import { scale } from '../contract/scale.ts'
import { type CaseResult, type Group, type Report, runCase, whyOf } from './report.ts'
import { storyOver } from './story.ts'
import { runFile } from './vitest-shim.ts'

/** The work of a runtime: the contract over its backends, the contract of bash, and test files. */
export interface Program {
  readonly subjects: Readonly<Record<string, Subject>>
  readonly files: Readonly<Record<string, () => Promise<unknown>>>
  /** Selects the cases of contracts that this runtime runs, by their place: all by default. */
  readonly wantsCase?: (index: number) => boolean
  /** Selects the test files that this runtime runs, by their place: all by default. */
  readonly wantsFile?: (index: number) => boolean
}

/** Creates an empty backend to test. */
export type Subject = () => BackendSubject | Promise<BackendSubject>

/** Storage that is slow for each file. */
const slow = ['R2', 'node']

/** Storage that one runtime alone has, which therefore runs all cases. Those of R2 also run over S3, which has the same code, in Node. */
const ownStorage = ['Durable Object']

const always = () => true

/** Runs everything in sequence and reports the results. */
export async function runProgram(program: Program): Promise<Report> {
  const { subjects, files, wantsCase = always, wantsFile = always } = program
  const share = <T>(cases: readonly T[]): readonly T[] => cases.filter((_, index) => wantsCase(index))
  const contracts: Group[] = []
  for (const [name, create] of Object.entries(subjects)) {
    const cases = backendContract({ name, create, ...(slow.includes(name) ? { scale } : {}) })
    contracts.push(await runContract(name, ownStorage.includes(name) ? cases : share(cases)))
  }
  const ofBash = shellContract({ name: 'bash', create: () => ({ shell: bash() }) })
  contracts.push(await runContract('bash', share(ofBash)))
  // The coverage of tool tests is counted in Node. This may be the last chance to count here.
  await globalThis.tellCoverage?.()
  const groups: Group[] = []
  for (const [index, [name, load]] of Object.entries(files).entries()) {
    if (wantsFile(index)) groups.push(await runFile(name, load))
  }
  const stories: Record<string, string> = {}
  for (const [name, create] of Object.entries(subjects)) stories[name] = await storyOver(create).catch(whyOf)
  return { contracts, files: groups, stories }
}

/** Number of concurrent cases, each with its own backend: more than one if the backend mostly waits. */
const atOnce: Readonly<Record<string, number>> = { R2: 8, bash: 4 }

/** Only cases that a backend does not declare support for may be skipped. A list of skips is not supported. */
async function runContract(name: string, cases: readonly ContractCase[]): Promise<Group> {
  const results: CaseResult[] = []
  const start = Date.now()
  const step = atOnce[name] ?? 1
  for (let i = 0; i < cases.length; i += step) {
    results.push(...(await Promise.all(cases.slice(i, i + step).map(runCase))))
  }
  return { name, cases: results, ms: Date.now() - start }
}
