import { sha256Text } from '../files/hash/sha256.ts'
import type { Permission } from '../policy/permissions.ts'
import { canonicalJson } from '../util/canonical-json.ts'

/** What happened to a call, before it gets its place in a chain. Paths are logical; contents are never part of it. */
export interface AuditEntry {
  /** Before the effect, after it, or for a call that was refused before it. */
  readonly phase: 'intent' | 'outcome' | 'refused'
  readonly runId: string
  readonly stepId?: string | undefined
  readonly toolCallId: string
  readonly toolName: string
  /** The tool of a dialect that called it, as `DIALECT.TOOL`. */
  readonly via?: string | undefined
  readonly actor: string
  /** Milliseconds since 1970, from the workspace's clock. */
  readonly timestamp: number
  readonly permission?: Permission | undefined
  /** Of a refused call: the paths that it asked for, as it wrote them; a long list or name is cut. */
  readonly pathsAsked?: readonly string[] | undefined
  readonly pathsRead: readonly string[]
  /** What it listed, searched or compared as a whole; `''` is the root. Files shown from there are among those read. */
  readonly pathsSearched?: readonly string[] | undefined
  readonly pathsWritten: readonly string[]
  /** Per path; `null` where there was nothing, or no file; {@link HIDDEN_VERSION} of secrets. Make it with {@link shaMap}: a path may be `__proto__`. */
  readonly oldSha256: Readonly<Record<string, string | null>>
  readonly newSha256: Readonly<Record<string, string | null>>
  /** The versions that the call read, where it showed a part of them. */
  readonly readSha256?: Readonly<Record<string, string | null>> | undefined
  /** What the run works on: in its first record, and again where it changes, as by an approved plan. */
  readonly task?:
    | { readonly text: string; readonly scope?: readonly string[] | undefined; readonly risk?: string | undefined }
    | undefined
  /** A plan that was handed in, or approved. */
  readonly plan?: { readonly text: string; readonly paths?: readonly string[] | undefined } | undefined
  /** How each question about the call was answered. */
  readonly approvals?:
    | readonly {
        readonly how: 'once' | 'run' | 'earlier' | 'denied'
        /** The rules that asked. */
        readonly rules: readonly string[]
        readonly by?: string | undefined
      }[]
    | undefined
  readonly policyDecision: {
    /** `none`: the call did not get as far. */
    readonly decision: 'allow' | 'ask' | 'deny' | 'none'
    readonly rules: readonly {
      readonly name: string
      readonly action: 'allow' | 'ask' | 'deny'
      readonly source?: string | undefined
      readonly path?: string | undefined
    }[]
  }
  /** Why, as the agent said. */
  readonly reason?: string | undefined
  readonly artifactUris: readonly string[]
  readonly durationMs?: number | undefined
  /** Of a refusal or failure. */
  readonly code?: string | undefined
  /** How sensitive what the call showed is, and where the taint of its run came from, once there is any. */
  readonly label?: string | undefined
  readonly taint?:
    | { readonly label: string; readonly callId: string; readonly tool: string; readonly path?: string | undefined }
    | undefined
  /** The step of the call at which it was refused. */
  readonly step?: string | undefined
  /** Accesses that a command tried and that were refused, each once; the call itself may have gone on. */
  readonly refusals?:
    | readonly { readonly permission: Permission; readonly path: string; readonly code: string }[]
    | undefined
}

/** The place of a record in its chain. */
export interface ChainHead {
  /** From 1, without gaps; 0 before the first. */
  readonly sequence: number
  /** 64 hex digits. */
  readonly hash: string
}

/**
 * One record of a chain. `hash` is the SHA-256 of `previousHash` followed by the canonical JSON (keys sorted, no white
 * space) of the record without `previousHash` and `hash`, as UTF-8.
 */
export interface AuditRecord extends Omit<AuditEntry, 'timestamp'>, ChainHead {
  /** ISO 8601, UTC, milliseconds. */
  readonly timestamp: string
  readonly previousHash: string
}

/** What the first record links to. */
export const emptyChain: ChainHead = { sequence: 0, hash: '0'.repeat(64) }

/** The next record of a chain. */
export function chain(entry: AuditEntry, { sequence, hash }: ChainHead): AuditRecord {
  const body = { ...entry, sequence: sequence + 1, timestamp: isoTime(entry.timestamp) }
  return { ...body, previousHash: hash, hash: hashOf(body, hash) }
}

/** The hash that a record must have, from its own content. */
export function expectedHash({ previousHash, hash: _, ...body }: AuditRecord): string {
  return hashOf(body, previousHash)
}

/** The one text of a record: canonical JSON, without a line end. */
export function recordText(record: AuditRecord): string {
  return canonicalJson(record)
}

/** Stands for the version of a file that is secret by its name: its hash would tell whoever guesses the content. */
export const HIDDEN_VERSION = 'hidden'

/** Versions by path, safe for any path. */
export function shaMap(
  versions: readonly (readonly [path: string, sha256: string | null])[],
): Readonly<Record<string, string | null>> {
  const [first, second] = versions
  // Most calls change one file, and a computed key is several times faster.
  if (first !== undefined && second === undefined) return { [first[0]]: first[1] }
  return Object.fromEntries(versions)
}

function hashOf(body: object, previousHash: string): string {
  return sha256Text(previousHash + canonicalJson(body))
}

function isoTime(timestamp: number): string {
  const date = new Date(timestamp)
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString()
}
