/**
 * Types and helpers for authors of tools: the `Tool` contract, and the globs, the text search and the comparison by line
 * that the built-in tools use, and the marks that hide secrets. Globs and search take time linear in their text for every pattern.
 */

export type { MediaType, TakenMedia } from '../files/media/types.ts'
export { type Redaction, redact, type SecretMark } from '../files/secrets/index.ts'
export type { TextDocument } from '../files/text/document.ts'
export type { Encoding, LineEnd, TextFormat } from '../files/text/encoding.ts'
export type { GuardedFiles, ScanFilter, ScanVisitor } from '../guard/guarded-files.ts'
export type { WalkKind } from '../guard/visibility.ts'
export type { ShownRange } from '../history/read-history.ts'
export { diffLines, type LineHunk } from '../patch/diff.ts'
export { type LineConflict, type LineMerge, type MergeNames, mergeLines } from '../patch/merge-lines.ts'
export { compileGlob, type Glob, type GlobOptions } from '../paths/glob.ts'
export type { Alphabet, AlphabetEdge } from '../search/alphabet.ts'
export type { Deadline } from '../search/deadline.ts'
export { type FileMatch, findMatches, type MatchOptions } from '../search/matches.ts'
export { compileQuery, type Hit, type Query, type QueryInput } from '../search/query.ts'
export type { AssertKind } from '../search/syntax.ts'
export type { WalkEntry, WalkFilters } from '../storage/walk.ts'
export type {
  ObjectSchema,
  SchemaIssue,
  SchemaParseOptions,
  SchemaParseResult,
  StandardSchemaResult,
} from '../util/object-schema.ts'
export {
  type Draft,
  defineTool,
  type ShownVersion,
  type Tool,
  type ToolContext,
} from './define-tool.ts'
