import { ToolError } from './errors.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Every default limit in one table. Sizes are in bytes, times in milliseconds. An embedding program may change each. */
export const defaultLimits = {
  readLines: 200,
  readLinesHard: 1000,
  readBytes: 64 * KIB,
  /** The largest file that text tools load whole. */
  textFileBytes: 10 * MIB,
  writeBytes: 1 * MIB,
  appendTotalBytes: 10 * MIB,
  /** What one move or copy may take along. */
  treeEntries: 10_000,
  treeBytes: 256 * MIB,
  /** What diff_workspace gives at once. */
  diffBytes: 120_000,
  diffBytesHard: 4 * MIB,
  /** Files that it names. */
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
  /** A longer line is cut around the hit, in UTF-16 units. */
  searchSnippet: 240,
  /** What a model sees of one call. */
  projectionBytes: 128 * KIB,
  /** A pattern longer than this is refused, in UTF-16 units. */
  patternLength: 4096,
  commandTimeoutMs: 120_000,
  commandTimeoutMsHard: 600_000,
  /** What a model sees of each stream of a command: its end. */
  commandOutputBytes: 32 * KIB,
  /** What is kept of each stream, to be read as an artifact. */
  commandKeptBytes: 4 * MIB,
  /** The largest file that a command may read or write. */
  commandFileBytes: 64 * MIB,
  /** Milliseconds that a background command may take. */
  backgroundTimeoutMs: 24 * 60 * 60_000,
  /** Background commands of one run. */
  processes: 64,
  hookTimeoutMs: 10_000,
  /** How long a call waits for its approval. */
  approvalMs: 24 * 60 * 60 * 1000,
  callsPerMinute: 10_000,
  /** Of files that are shown, each time; no limit of its own. */
  bytesReadPerRun: Number.MAX_SAFE_INTEGER,
  bytesWrittenPerRun: 1024 * MIB,
  /** Earlier content that is kept for undo; the oldest calls are dropped first. */
  journalBytes: 64 * MIB,
  /** What one patch may do, as policy's budget: files, files deleted, lines added and removed, bytes of the patch. */
  patchFiles: 20,
  patchDeletes: 5,
  patchInsertions: 800,
  patchDeletions: 800,
  patchBytes: 200_000,
  /** Decoded text and verdicts that may be kept in memory. */
  cacheBytes: 64 * MIB,
}

/** Every limit by its name: positive whole numbers. Their defaults, with their units, are {@link defaultLimits}. */
export type Limits = { readonly [K in keyof typeof defaultLimits]: number }

/** The limits with the embedder's changes. Throws a TypeError for an unknown name or a value that is no positive safe integer. */
export function resolveLimits(changes: Partial<Limits> = {}): Limits {
  for (const [name, value] of Object.entries(changes)) {
    if (!Object.hasOwn(defaultLimits, name)) {
      throw new TypeError(`Unknown limit "${name}"; the limits are ${Object.keys(defaultLimits).join(', ')}`)
    }
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value <= 0) {
      throw new TypeError(`Limit "${name}" must be a positive safe integer, not ${String(value)}`)
    }
  }
  return { ...defaultLimits, ...changes }
}

/** Clamps a number over its hard limit and says so in `warnings`. */
export function clamp(name: string, value: number, hard: number, warnings: string[]): number {
  if (value <= hard) return value
  warnings.push(`${name} ${value} was reduced to the limit of ${hard}`)
  return hard
}

/** Refuses a size over a limit. */
export function checkLimit(name: string, value: number, limit: number, path?: string): void {
  if (value > limit) {
    throw new ToolError('LIMIT_EXCEEDED', `${name} is ${value}, over the limit of ${limit}`, {
      limit: name,
      value: limit,
      ...(path === undefined ? {} : { path }),
    })
  }
}
