import { bash } from '../../src/shells/bash/index.ts'
import { type BackendSubject, backendContract, type ContractCase, shellContract } from '../../src/testing/index.ts'
import { scale } from '../contract/scale.ts'
import { type CaseResult, type Group, type Report, runCase, whyOf } from './report.ts'
import { storyOver } from './story.ts'
import { runFile } from './vitest-shim.ts'

/** What a runtime is to run: the contract over its backends, that of bash, and test files. */
export interface Program {
  readonly subjects: Readonly<Record<string, Subject>>
  readonly files: Readonly<Record<string, () => Promise<unknown>>>
}

/** A backend that is tested, empty, each time that it is asked for. */
export type Subject = () => BackendSubject | Promise<BackendSubject>

/** Storage that takes its time for each file. */
const slow = ['R2', 'node']

/** Runs everything, one after the other, and reports on each. */
export async function runProgram({ subjects, files }: Program): Promise<Report> {
  const contracts: Group[] = []
  for (const [name, create] of Object.entries(subjects)) {
    contracts.push(
      await runContract(name, backendContract({ name, create, ...(slow.includes(name) ? { scale } : {}) })),
    )
  }
  contracts.push(await runContract('bash', shellContract({ name: 'bash', create: () => ({ shell: bash() }) })))
  // What tests of tools reach is counted in Node; there may be no later moment here.
  await globalThis.tellCoverage?.()
  const ran: Group[] = []
  for (const [name, load] of Object.entries(files)) ran.push(await runFile(name, load))
  const stories: Record<string, string> = {}
  for (const [name, create] of Object.entries(subjects)) stories[name] = await storyOver(create).catch(whyOf)
  return { contracts, files: ran, stories }
}

/** How many cases run at once, each over a backend of its own: more than one where it mostly waits. */
const atOnce: Readonly<Record<string, number>> = { R2: 8, bash: 4 }

/** Nothing but what a backend declares not to have may be left out: a list of skips is not taken. */
async function runContract(name: string, cases: readonly ContractCase[]): Promise<Group> {
  const results: CaseResult[] = []
  const start = Date.now()
  const step = atOnce[name] ?? 1
  for (let i = 0; i < cases.length; i += step) {
    results.push(...(await Promise.all(cases.slice(i, i + step).map(runCase))))
  }
  return { name, cases: results, ms: Date.now() - start }
}
