/**
 * Checks for the option `checks` of `createWorkspace`, and the types of own ones.
 */

export type {
  ChangedFile,
  Check,
  CheckContext,
  CheckFiles,
  CheckReport,
  CommandCheck,
  Finding,
  FunctionCheck,
} from '../call/state/checks.ts'
export { type JsonCheckOptions, json } from './json.ts'
export { type TypeScriptCheckOptions, typescript } from './typescript/index.ts'
