import { backendContract } from '../../../src/testing/index.ts'
import { workerSubjects } from './subjects.ts'

/** What became of a case. */
export interface Outcome {
  readonly subject: string
  readonly name: string
  readonly skipped?: string
  readonly failed?: string
}

/** Runs the contract here, in a worker, over workspaces that it opens itself, and says how it went. */
globalThis.onmessage = async ({ data: subject }: { readonly data: string }) => {
  const create = workerSubjects()[subject]
  if (create === undefined) throw new Error(`There is no subject "${subject}"`)
  const outcomes: Outcome[] = []
  for (const one of backendContract({ name: subject, create })) {
    outcomes.push(
      await one.run().then(
        (result) => ({ subject, name: one.name, ...result }),
        (error: unknown) => ({ subject, name: one.name, failed: String(error) }),
      ),
    )
  }
  globalThis.postMessage(outcomes)
}
