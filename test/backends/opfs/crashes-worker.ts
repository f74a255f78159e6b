import { crashEverywhere, type Failing } from './crashes.ts'
import { workerSubjects } from './subjects.ts'

/** The subject whose storage fails in this worker, and how. */
export interface Asked {
  readonly subject: string
  readonly failing: Failing
  readonly step: number
}

globalThis.onmessage = async ({ data: { subject, failing, step } }: { readonly data: Asked }) => {
  const create = workerSubjects()[subject]
  if (create === undefined) throw new Error(`There is no subject "${subject}"`)
  globalThis.postMessage(await crashEverywhere(create, failing, step))
}
