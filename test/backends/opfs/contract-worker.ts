import { backendContract } from '../../../src/testing/index.ts'
import { crashEverywhere, type Failing } from './crashes.ts'
import { workerSubjects } from './subjects.ts'

/** What became of a case. */
export interface Outcome {
  readonly subject: string
  readonly name: string
  readonly skipped?: string
  readonly failed?: string
}

/** What is asked of the worker: the contract of a subject, or that its storage fails at each call. */
export interface Asked {
  readonly subject: string
  readonly failing?: Failing
}

/** Runs the contract here, in a worker, over workspaces that it opens itself, and says how it went. */
globalThis.onmessage = async ({ data: { subject, failing } }: { readonly data: Asked }) => {
  const create = workerSubjects()[subject]
  if (create === undefined) throw new Error(`There is no subject "${subject}"`)
  if (failing !== undefined) {
    globalThis.postMessage(await crashEverywhere(create, failing))
    return
  }
  const waiting = [...backendContract({ name: subject, create })]
  const outcomes: Outcome[] = []
  // Each case has a workspace of its own, and waits for the storage most of the time.
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const { name, run } = one
      outcomes.push(
        await run().then(
          (result) => ({ subject, name, ...result }),
          (error: unknown) => ({ subject, name, failed: String(error) }),
        ),
      )
    }
  }
  await Promise.all(Array.from({ length: 5 }, work))
  globalThis.postMessage(outcomes)
}
