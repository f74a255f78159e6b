import { type ContractCase, toCases } from './cases.ts'
import type { ShellCase, ShellSubject } from './shell/case.ts'
import { endingCases } from './shell/endings.ts'
import { fileCases } from './shell/files.ts'
import { outcomeCases } from './shell/outcomes.ts'
import { protectionCases } from './shell/protection.ts'
import { sessionCases } from './shell/sessions.ts'

/** The shell under test, and what its contract may leave out, with the reason. */
export interface ShellContractOptions {
  readonly name: string
  /** Makes a shell with an empty backend to run over. Called once for each case. */
  create(): Promise<ShellSubject> | ShellSubject
  /** Cases not to be run, by name, each with its reason. A name that no case has is a TypeError. */
  readonly skip?: Readonly<Record<string, string>>
}

/**
 * The contract that every shell keeps, as cases for any test runner: each makes a workspace of its own with the shell and
 * runs plain POSIX lines through its tools. A case is skipped only where the shell itself declares that it lacks a
 * capability, or where `skip` gives a reason.
 *
 * @example
 * ```ts
 * for (const one of shellContract({ name: 'bash', create: () => ({ shell: bash() }) })) {
 *   it(one.name, async () => { await one.run() })
 * }
 * ```
 */
export function shellContract(options: ShellContractOptions): readonly ContractCase[] {
  const cases: readonly ShellCase[] = [
    ...outcomeCases,
    ...fileCases,
    ...endingCases,
    ...protectionCases,
    ...sessionCases,
  ]
  return toCases(cases, options, async ({ shell, backend, dispose }) => {
    await shell.close()
    await backend?.close()
    await dispose?.()
  })
}
