/** Contract suites for third parties' backends. They need no test runner: see {@link registerContract}. */
export type { BackendSubject } from './backend/case.ts'
export {
  type BackendContractOptions,
  backendContract,
  type ContractCase,
  type Runner,
  readOnlyContract,
  registerContract,
} from './backend-contract.ts'
