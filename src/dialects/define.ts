export { type Found, findAny, strict } from './runtime/find-files.ts'
export { listAll, type TreeNode, treeBelow } from './runtime/list-tree.ts'
export { createPlace, type Place, type VirtualRoots } from './runtime/path-mapping.ts'
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
  attempt,
  call,
  defineDialectTool,
  fieldsOf,
  peek,
  renamedFields,
  settled,
  shownVersion,
} from './runtime/steps.ts'
export { refusalOf } from './runtime/translate-error.ts'
