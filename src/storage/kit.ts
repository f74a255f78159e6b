/**
 * Types and helpers for authors of backends: the `Backend` contract, checking and planning of commits, and the defaults
 * that the built-in backends share.
 */
export { type ErrorCode, type ErrorDetails, ToolError } from '../errors.ts'
export { createSha256, sha256, sha256Async } from '../files/hash/sha256.ts'
export type { IncrementalHash } from '../files/hash/sha256-portable.ts'
export {
  ancestorsOf,
  childOf,
  display,
  isWithin,
  type LogicalPath,
  nameOf,
  type Path,
  parentOf,
  parsePath,
  quote,
  ROOT,
} from '../paths/logical-path.ts'
export { throwIfAborted } from '../util/abort.ts'
export { createSerialQueue, type SerialQueue } from '../util/serial-queue.ts'
export { yieldToEventLoop } from '../util/timers.ts'
export {
  type Backend,
  type Capabilities,
  type Change,
  type CommitOptions,
  type ContentSink,
  type DirectoryEntry,
  type DirectoryNode,
  type DirectoryStats,
  type EntryState,
  type EntryType,
  type Expectation,
  FACTS,
  type FileNode,
  type FileRead,
  type LinkNode,
  type OutsideListener,
  type ReadsNow,
  type Receipt,
  type ScanVisit,
  type StagedContent,
  type Stat,
  type StoredContent,
  type TreeNode,
  TYPE_CODES,
  type Version,
  type WalkVisitor,
} from './backend.ts'
export { type CanonicalOptions, canonical, canonicalSync, type LinkReads, type LookupResult } from './canonical-path.ts'
export {
  applyOrder,
  checkChangeSet,
  type FileOf,
  type Present,
  type PresentView,
  validateChanges,
} from './change-set.ts'
export { linkTarget } from './link-target.ts'
export {
  emptyRoot,
  FILE_MODE,
  hashBytes,
  loadStoredTree,
  planStoredCommit,
  type StoredCommit,
  type StoredCommitOptions,
  type StoredEntry,
  type StoredStat,
  type StoredTree,
  storedCapabilities,
} from './plan-commit.ts'
export { rangeOf } from './read-range.ts'
export { storageError } from './storage-error.ts'
export { type StateReads, sameState, sameVersion, stateAt, versionAt, versionOf } from './versions.ts'
export { type PathVerb, type ReadVerb, wrongType, wrongTypeAt } from './wrong-type.ts'
