import { isBackend } from '../storage/is-backend.ts'
import {
  checkOptions,
  isFunction,
  isPositive,
  isRecordOf,
  isText,
  type OptionTable,
  refuseSurplus,
  shape,
} from '../util/check-options.ts'
import type { BackendCase, BackendSubject } from './backend/case.ts'
import { commitCases } from './backend/commits.ts'
import { type ContractScale, largeCases } from './backend/large.ts'
import { linkCases } from './backend/links.ts'
import { matrixCases } from './backend/matrix.ts'
import { optionalCases } from './backend/optional.ts'
import { readOnlyCases } from './backend/read-only.ts'
import { nameCases, readCases } from './backend/reads.ts'
import { stagedCases } from './backend/staged.ts'
import { watchCases } from './backend/watch.ts'
import { type ContractCase, toCases } from './cases.ts'

/** Names and creates the backend under test, and lists cases to skip. */
export interface BackendContractOptions {
  readonly name: string
  /** Creates an empty backend. Called once for each case. */
  create(): Promise<BackendSubject> | BackendSubject
  /** Reasons to skip cases, by case name. An unknown name is a TypeError. */
  readonly skip?: Readonly<Record<string, string>>
  /** Sizes of the largest trees, for slow storages. Default: 1,000 files in one directory and 200 levels. */
  readonly scale?: ContractScale
}

const SCALE: ContractScale = { files: 1000, depth: 200 }

const optionTable: OptionTable<BackendContractOptions> = {
  name: isText,
  create: isFunction,
  skip: isRecordOf(isText),
  scale: shape<ContractScale>({ files: isPositive, depth: isPositive }, 'files', 'depth'),
}

/**
 * Returns the contract of every backend as cases for any test runner. Each case creates its own backend and throws an Error with
 * the expected and the actual value. A case is skipped only if the backend declares that it lacks a capability, or if `skip`
 * has a reason for it.
 *
 * @throws TypeError for an unknown or wrong option, and for a name in `skip` that no case has
 * @example
 * for (const contractCase of backendContract({ name: 'memory', create: () => ({ backend: memory() }) })) {
 *   it(contractCase.name, async () => { await contractCase.run() })
 * }
 */
export function backendContract(options: BackendContractOptions): readonly ContractCase[] {
  refuseSurplus('backendContract()', 1, arguments)
  const { scale = SCALE } = checkOptions('backendContract()', options, optionTable, 'name', 'create')
  const large = largeCases(scale)
  return backendCases(
    [
      ...readCases,
      ...large,
      ...nameCases,
      ...commitCases,
      ...matrixCases,
      ...linkCases,
      ...optionalCases,
      ...stagedCases,
      ...watchCases,
    ],
    options,
  )
}

/**
 * Returns the contract of a read-only backend: it reads as its source does, and refuses every commit with `READ_ONLY`.
 * `create` returns the read-only backend over `source`, which is empty and writable.
 */
export function readOnlyContract(options: {
  readonly name: string
  create():
    | Promise<BackendSubject & { source: BackendSubject['backend'] }>
    | (BackendSubject & { source: BackendSubject['backend'] })
}): readonly ContractCase[] {
  refuseSurplus('readOnlyContract()', 1, arguments)
  const { name, create, skip } = optionTable
  checkOptions('readOnlyContract()', options, { name, create, skip }, 'name', 'create')
  return backendCases(readOnlyCases, options as BackendContractOptions)
}

function backendCases(cases: readonly BackendCase[], options: BackendContractOptions): ContractCase[] {
  const close = async ({ backend, dispose }: BackendSubject) => {
    await backend.close()
    await dispose?.()
  }
  return toCases(cases, options, close, ({ backend }, owner) => isBackend(backend, 'backend', owner))
}
