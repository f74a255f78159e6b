/**
 * For authors of dialects: tools and their steps, path mapping, reading of files, and the text helpers that the dialects of
 * this package use. Globs and patterns take time linear in their text.
 */

export { type ErrorCode, type Failure, ToolError } from '../errors.ts'
export {
  compileGlob,
  compileQuery,
  type FileMatch,
  findMatches,
  type Glob,
  type GlobOptions,
  type MatchOptions,
  type Query,
  type QueryInput,
} from '../tools/author.ts'
export { joinSentences } from '../util/join-sentences.ts'
export { type CommandOutput, formatCommandOutput } from './runtime/command-text.ts'
export type { DialectFactory } from './runtime/dialect-factory.ts'
export { type FoundEntries, findEntries, strictGlob } from './runtime/find-files.ts'
export { listAll, listTree, type TreeNode } from './runtime/list-tree.ts'
export { formatNearestPassage } from './runtime/nearest-passage.ts'
export { type NewLines, newLinesOf, numberLines, splitLines } from './runtime/numbered-lines.ts'
export { createPathMapping, type PathMapping, type VirtualRoots } from './runtime/path-mapping.ts'
export {
  type FileText,
  type LineRange,
  type PartialText,
  readBetween,
  readLines,
  readPart,
  readWhole,
} from './runtime/read-lines.ts'
export {
  call,
  callHidden,
  callNarrowed,
  callTool,
  defineDialectTool,
  fieldsOf,
  lastShownVersion,
  limitOr,
  narrowInput,
  refuseUnused,
  renamedFields,
  takingMedia,
  tryCall,
  trySteps,
} from './runtime/steps.ts'
export { toDialectError } from './runtime/translate-error.ts'
export {
  type Answer,
  type AnyToolName,
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
