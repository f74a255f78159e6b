import type { BackendCase, BackendSubject } from './backend/case.ts'
import { commitCases } from './backend/commits.ts'
import { linkCases } from './backend/links.ts'
import { matrixCases } from './backend/matrix.ts'
import { optionalCases } from './backend/optional.ts'
import { readOnlyCases } from './backend/read-only.ts'
import { nameCases, readCases } from './backend/reads.ts'

export interface BackendContractOptions {
  readonly name: string
  /** Makes an empty backend. Called once for each case. */
  create(): Promise<BackendSubject> | BackendSubject
  /** Cases not to be run, by name, each with its reason. A name that no case has is a TypeError. */
  readonly skip?: Readonly<Record<string, string>>
}

/** One case of a contract. */
export interface ContractCase {
  readonly name: string
  /** Throws where the contract is broken. What the backend declares not to have is skipped, and the result says why. */
  run(): Promise<{ readonly skipped?: string }>
}

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
  return toCases([...readCases, ...nameCases, ...commitCases, ...matrixCases, ...linkCases, ...optionalCases], options)
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
  return toCases(readOnlyCases, options as BackendContractOptions)
}

/** What is needed of a test runner: vitest, jest, mocha, node:test and Deno's bdd have it. */
export interface Runner {
  describe(name: string, define: () => void): unknown
  // biome-ignore lint/suspicious/noExplicitAny: each runner passes a context of its own, or none.
  it(name: string, test: (context?: any) => Promise<void>): unknown
}

/** Registers cases in a runner, as one group. What is skipped shows with its reason where the runner can show it. */
export function registerContract(name: string, cases: readonly ContractCase[], { describe, it }: Runner): void {
  describe(name, () => {
    for (const one of cases) {
      it(one.name, async (context) => {
        const { skipped } = await one.run()
        if (skipped !== undefined && typeof context?.skip === 'function') context.skip(skipped)
      })
    }
  })
}

function toCases(cases: readonly BackendCase[], { create, skip = {} }: BackendContractOptions): ContractCase[] {
  for (const name of Object.keys(skip)) {
    if (!cases.some((one) => one.name === name)) throw new TypeError(`The contract has no case "${name}" to skip`)
  }
  return cases.map(({ name, unless, test }) => ({
    name,
    async run() {
      const reason = Object.hasOwn(skip, name) ? skip[name] : undefined
      if (reason !== undefined) return { skipped: reason }
      const subject = await create()
      try {
        const skipped = unless?.(subject)
        if (skipped !== undefined) return { skipped }
        await test(subject)
        return {}
      } finally {
        await subject.backend.close()
        await subject.dispose?.()
      }
    },
  }))
}
