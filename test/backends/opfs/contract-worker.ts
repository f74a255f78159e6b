import { backendContract } from '../../../src/testing/index.ts'
import { scale } from '../../contract/scale.ts'
import { type CaseResult, runCase } from '../../runtimes/report.ts'
import { workerSubjects } from './subjects.ts'

/** A way to open storage, and the cases of the contract to run. */
export interface Asked {
  readonly subject: string
  readonly names: readonly string[]
}

/** Runs cases of the contract in this worker, over workspaces that it opens, and posts the results. */
globalThis.onmessage = async ({ data: { subject, names } }: { readonly data: Asked }) => {
  const create = workerSubjects()[subject]
  if (create === undefined) throw new Error(`There is no subject "${subject}"`)
  const waiting = backendContract({ name: subject, create, scale }).filter(({ name }) => names.includes(name))
  const outcomes: CaseResult[] = []
  // Each case has its own workspace, and mostly waits for the storage.
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) outcomes.push(await runCase(one))
  }
  await Promise.all(Array.from({ length: 5 }, work))
  globalThis.postMessage(outcomes)
}
