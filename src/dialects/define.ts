export { type Found, findEntries, strictGlob } from './runtime/find-files.ts'
export { listAll, type TreeNode, treeBelow } from './runtime/list-tree.ts'
export { createPathMapping, type PathMapping, type VirtualRoots } from './runtime/path-mapping.ts'
export {
  type FileText,
  type LineRange,
  readBetween,
  readLines,
  readSome,
  readWhole,
  type SomeText,
} from './runtime/read-lines.ts'
export {
  call,
  callHidden,
  defineDialectTool,
  fieldsOf,
  lastShownVersion,
  renamedFields,
  tryCall,
  trySteps,
} from './runtime/steps.ts'
export { toDialectError } from './runtime/translate-error.ts'
export {
  type Answer,
  type ContentBlock,
  type Dialect,
  type DialectError,
  type DialectResult,
  type DialectTool,
  type DialectToolInfo,
  type Hints,
  isDialectResult,
  type NativeDefinitions,
  type Step,
  type Steps,
  type ToolAnnotations,
} from './runtime/types.ts'
