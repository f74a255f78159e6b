/** Contract suites for third parties' backends and shells. They need no test runner: see {@link registerContract}. */
export type { BackendSubject } from './backend/case.ts'
export { type BackendContractOptions, backendContract, readOnlyContract } from './backend-contract.ts'
export { type ContractCase, type Runner, registerContract } from './cases.ts'
export type { ShellSubject } from './shell/case.ts'
export { type ShellContractOptions, shellContract } from './shell-contract.ts'
