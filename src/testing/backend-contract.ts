import type { BackendCase, BackendSubject } from './backend/case.ts'
import { commitCases } from './backend/commits.ts'
import { type ContractScale, largeCases } from './backend/large.ts'
import { linkCases } from './backend/links.ts'
import { matrixCases } from './backend/matrix.ts'
import { optionalCases } from './backend/optional.ts'
import { readOnlyCases } from './backend/read-only.ts'
import { nameCases, readCases } from './backend/reads.ts'
import { type ContractCase, toCases } from './cases.ts'

/** The backend under test, and what its contract may leave out, with the reason. */
export interface BackendContractOptions {
  readonly name: string
  /** Makes an empty backend. Called once for each case. */
  create(): Promise<BackendSubject> | BackendSubject
  /** Cases not to be run, by name, each with its reason. A name that no case has is a TypeError. */
  readonly skip?: Readonly<Record<string, string>>
  /** How large its largest trees are: 1,000 files in a directory and a depth of 200, unless a slow storage asks for less. */
  readonly scale?: ContractScale
}

const SCALE: ContractScale = { files: 1000, depth: 200 }

/**
 * The contract that every backend keeps, as cases for any test runner: each makes a backend of its own, and throws an
 * Error that says what was expected and what came. A case is skipped only where the backend itself declares that it
 * lacks a capability, or where `skip` gives a reason.
 *
 * @example
 * ```ts
 * for (const one of backendContract({ name: 'memory', create: () => ({ backend: memory() }) })) {
 *   it(one.name, async () => { await one.run() })
 * }
 * ```
 */
export function backendContract(options: BackendContractOptions): readonly ContractCase[] {
  const large = largeCases(options.scale ?? SCALE)
  return backendCases(
    [...readCases, ...large, ...nameCases, ...commitCases, ...matrixCases, ...linkCases, ...optionalCases],
    options,
  )
}

/**
 * The contract of a backend that only reads: it reads as its source does, and refuses every commit with `READ_ONLY`.
 * `create` gives the read-only backend over `source`, which is empty and can be written.
 */
export function readOnlyContract(options: {
  readonly name: string
  create():
    | Promise<BackendSubject & { source: BackendSubject['backend'] }>
    | (BackendSubject & { source: BackendSubject['backend'] })
}): readonly ContractCase[] {
  return backendCases(readOnlyCases, options as BackendContractOptions)
}

function backendCases(cases: readonly BackendCase[], options: BackendContractOptions): ContractCase[] {
  return toCases(cases, options, async ({ backend, dispose }) => {
    await backend.close()
    await dispose?.()
  })
}
