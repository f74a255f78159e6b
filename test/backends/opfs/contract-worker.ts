import { backendContract } from '../../../src/testing/index.ts'
import { type CaseResult, runCase } from '../../runtimes/report.ts'
import { workerSubjects } from './subjects.ts'

/** Runs the contract here, in a worker, over workspaces that it opens itself, and says how it went. */
globalThis.onmessage = async ({ data: subject }: { readonly data: string }) => {
  const create = workerSubjects()[subject]
  if (create === undefined) throw new Error(`There is no subject "${subject}"`)
  const outcomes: CaseResult[] = []
  for (const one of backendContract({ name: subject, create })) outcomes.push(await runCase(one))
  globalThis.postMessage(outcomes)
}
