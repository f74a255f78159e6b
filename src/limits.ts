import { ToolError } from './errors.ts'
import { checkOptions, isPositive, type OptionTable } from './util/check-options.ts'

const KIB = 1024
const MIB = 1024 * KIB

/**
 * The default limits. Sizes are in bytes and times in milliseconds, unless noted. An input may raise a limit up to the one
 * with the suffix `Hard`. An embedding program may change each limit.
 */
export const defaultLimits = {
  readLines: 200,
  readLinesHard: 1000,
  readBytes: 64 * KIB,
  /** The largest file that text tools load whole. */
  textFileBytes: 10 * MIB,
  /** An image that `read_file` shows: its bytes (5 MiB in Base64), the pixels of its longer side, and all its pixels. */
  imageBytes: 3.75 * MIB,
  imageSide: 8000,
  imagePixels: 40_000_000,
  /** The largest PDF document that `read_file` shows. */
  documentBytes: 8 * MIB,
  /** Text of one output of a cell of a notebook. */
  cellOutputBytes: 4 * KIB,
  writeBytes: 1 * MIB,
  appendTotalBytes: 10 * MIB,
  /** Entries of one move or copy. */
  treeEntries: 10_000,
  treeBytes: 256 * MIB,
  /** Size of one result of `diff_workspace`. */
  diffBytes: 120_000,
  diffBytesHard: 4 * MIB,
  /** Files in one result of `diff_workspace`. */
  diffFiles: 1000,
  listEntries: 300,
  listEntriesHard: 500,
  listDepthHard: 32,
  findResults: 200,
  findResultsHard: 100_000,
  searchMatches: 100,
  searchMatchesHard: 1000,
  searchContextLines: 3,
  searchFileBytes: 4 * MIB,
  searchTimeoutMs: 5000,
  searchTimeoutMsHard: 60_000,
  /** UTF-16 units of a line around a match. A longer line is cut. */
  searchSnippet: 240,
  /** Size of the result of one call, as JSON. */
  projectionBytes: 128 * KIB,
  /** UTF-16 units of a pattern. A longer pattern is refused. */
  patternLength: 4096,
  commandTimeoutMs: 120_000,
  commandTimeoutMsHard: 600_000,
  /** Output of each stream of a command in its result. Of longer output, the result contains the end. */
  commandOutputBytes: 32 * KIB,
  /** Output of each stream that is stored as an artifact. */
  commandKeptBytes: 4 * MIB,
  /** The largest file that a command may read or write. */
  commandFileBytes: 64 * MIB,
  /** Time limit of a background command. */
  backgroundTimeoutMs: 24 * 60 * 60_000,
  /** Background commands of one run. */
  processes: 64,
  hookTimeoutMs: 10_000,
  /** Time limit of one check after a change. */
  checkTimeoutMs: 10_000,
  /** Findings of one check in a result, and their size. */
  checkFindings: 20,
  checkBytes: 8 * KIB,
  /** Time for which a call waits for its approval. */
  approvalMs: 24 * 60 * 60 * 1000,
  callsPerMinute: 10_000,
  /** Bytes of files that a run reads. A file that is read twice counts twice. Not limited by default. */
  bytesReadPerRun: Number.MAX_SAFE_INTEGER,
  bytesWrittenPerRun: 1024 * MIB,
  /** Previous content that is kept for undo. The oldest calls are dropped first. */
  journalBytes: 64 * MIB,
  /** The budget of one patch: files, deleted files, added lines, removed lines, and bytes of the patch. */
  patchFiles: 20,
  patchDeletes: 5,
  patchInsertions: 800,
  patchDeletions: 800,
  patchBytes: 200_000,
  /** Decoded text and verdicts in the cache. */
  cacheBytes: 64 * MIB,
}

/** The limits by name: positive integers. {@link defaultLimits} has the defaults and units. */
export type Limits = { readonly [K in keyof typeof defaultLimits]: number }

/** The checks of {@link Limits}. */
export const limitTable = Object.fromEntries(
  Object.keys(defaultLimits).map((name) => [name, isPositive]),
) as OptionTable<Limits>

/**
 * Returns the default limits with changes.
 *
 * @throws TypeError for an unknown name, or a value that is not a positive safe integer
 */
export function resolveLimits(changes: Partial<Limits> = {}): Limits {
  return { ...defaultLimits, ...checkOptions<Partial<Limits>>('the limits', changes, limitTable) }
}

/** Returns the number, or the hard limit if the number is over it. Adds a warning if the number was over the limit. */
export function clamp(name: string, value: number, hard: number, warnings: string[]): number {
  if (value <= hard) return value
  warnings.push(`${name} ${value} was reduced to the limit of ${hard}`)
  return hard
}

/** The warning of {@link clamp}, with the number and the limit. */
export const REDUCED_WARNING = /^\w+ (\d+) was reduced to the limit of (\d+)$/

/** @throws ToolError `LIMIT_EXCEEDED` for a size over a limit */
export function checkLimit(name: string, value: number, limit: number, path?: string, hint?: string): void {
  if (value > limit) {
    throw new ToolError('LIMIT_EXCEEDED', `${name} is ${value}, over the limit of ${limit}`, {
      limit: name,
      value: limit,
      ...(path === undefined ? {} : { path }),
      ...(hint === undefined ? {} : { hint }),
    })
  }
}
