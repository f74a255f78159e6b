import {
  checkOptions,
  isFunction,
  isObjectWith,
  isRecordOf,
  isText,
  type OptionTable,
  refuseSurplus,
} from '../util/check-options.ts'
import { type ContractCase, toCases } from './cases.ts'
import type { ShellCase, ShellSubject } from './shell/case.ts'
import { endingCases } from './shell/endings.ts'
import { fileCases } from './shell/files.ts'
import { outcomeCases } from './shell/outcomes.ts'
import { protectionCases } from './shell/protection.ts'
import { sessionCases } from './shell/sessions.ts'

/** Names and creates the shell under test, and lists cases to skip. */
export interface ShellContractOptions {
  readonly name: string
  /** Creates a shell with an empty backend. Called once for each case. */
  create(): Promise<ShellSubject> | ShellSubject
  /** Reasons to skip cases, by case name. An unknown name is a TypeError. */
  readonly skip?: Readonly<Record<string, string>>
}

const optionTable: OptionTable<ShellContractOptions> = { name: isText, create: isFunction, skip: isRecordOf(isText) }
const isShell = isObjectWith('a shell', 'judge', 'run', 'close')

/**
 * Returns the contract of every shell as cases for any test runner. Each case creates its own workspace with the shell and runs
 * POSIX command lines through its tools. A case is skipped only if the shell declares that it lacks a capability, or if `skip`
 * has a reason for it.
 *
 * @throws TypeError for an unknown or wrong option, and for a name in `skip` that no case has
 * @example
 * for (const contractCase of shellContract({ name: 'bash', create: () => ({ shell: bash() }) })) {
 *   it(contractCase.name, async () => { await contractCase.run() })
 * }
 */
export function shellContract(options: ShellContractOptions): readonly ContractCase[] {
  refuseSurplus('shellContract()', 1, arguments)
  const cases: readonly ShellCase[] = [
    ...outcomeCases,
    ...fileCases,
    ...endingCases,
    ...protectionCases,
    ...sessionCases,
  ]
  checkOptions('shellContract()', options, optionTable, 'name', 'create')
  const close = async ({ shell, backend, dispose }: ShellSubject) => {
    await shell.close()
    await backend?.close()
    await dispose?.()
  }
  return toCases(cases, options, close, ({ shell }, owner) => isShell(shell, 'shell', owner))
}
