import { sha256Text } from '../files/hash/sha256.ts'
import type { Permission } from '../policy/permissions.ts'
import { canonicalJson } from '../util/canonical-json.ts'
import { checkArgument, must } from '../util/check-options.ts'

/** A push of commits to a server. */
export interface AuditedPush {
  /** The address of the repository, without credentials. */
  readonly url: string
  readonly ref: string
  readonly from: string | null
  readonly to: string | null
}

/** The audit data of a call, before it becomes a record of a chain. Paths are logical. Contents are never included. */
export interface AuditEntry {
  /** Recorded before the effect, after it, or instead of it, if the call was refused. */
  readonly phase: 'intent' | 'outcome' | 'refused'
  readonly runId: string
  readonly stepId?: string | undefined
  readonly toolCallId: string
  readonly toolName: string
  /** The dialect tool that made the call, as `DIALECT.TOOL`. */
  readonly via?: string | undefined
  readonly actor: string
  /** Milliseconds since 1970, from the workspace's clock. */
  readonly timestamp: number
  readonly permission?: Permission | undefined
  /** The requested paths of a refused call, as written by the caller. Long lists and names are cut. */
  readonly pathsAsked?: readonly string[] | undefined
  readonly pathsRead: readonly string[]
  /** Directories that it listed, searched or compared; `''` is the root. Files shown from there are in `pathsRead`. */
  readonly pathsSearched?: readonly string[] | undefined
  readonly pathsWritten: readonly string[]
  /** By path, or `null` when there was no file; {@link HIDDEN_VERSION} for secrets. Created by {@link shaMap}, because a path may be `__proto__`. */
  readonly oldSha256: Readonly<Record<string, string | null>>
  readonly newSha256: Readonly<Record<string, string | null>>
  /** The versions that the call read, if it showed only a part of them. */
  readonly readSha256?: Readonly<Record<string, string | null>> | undefined
  /** The task of the run: in its first record, and again when it changes, for example by an approved plan. */
  readonly task?:
    | { readonly text: string; readonly scope?: readonly string[] | undefined; readonly risk?: string | undefined }
    | undefined
  /** A plan that was submitted or approved. */
  readonly plan?: { readonly text: string; readonly paths?: readonly string[] | undefined } | undefined
  /** The answers to the approval questions about the call. */
  readonly approvals?:
    | readonly {
        readonly how: 'once' | 'run' | 'earlier' | 'denied'
        /** The rules that required the approval. */
        readonly rules: readonly string[]
        readonly by?: string | undefined
      }[]
    | undefined
  readonly policyDecision: {
    /** `none` if the call was refused before the policy was evaluated. */
    readonly decision: 'allow' | 'ask' | 'deny' | 'none'
    readonly rules: readonly {
      readonly name: string
      readonly action: 'allow' | 'ask' | 'deny'
      readonly source?: string | undefined
      readonly path?: string | undefined
    }[]
  }
  /** The reason that the agent stated. */
  readonly reason?: string | undefined
  readonly artifactUris: readonly string[]
  /** Lines of text that the call added and removed. Absent if it changed nothing, or too much to count. */
  readonly lines?: { readonly insertions: number; readonly deletions: number } | undefined
  readonly durationMs?: number | undefined
  /** The error code of a refusal or failure. */
  readonly code?: string | undefined
  /** The sensitivity of the content that the call showed, and the origin of the run's taint, if any. */
  readonly label?: string | undefined
  readonly taint?:
    | { readonly label: string; readonly callId: string; readonly tool: string; readonly path?: string | undefined }
    | undefined
  /** The step at which the call was refused. `response`: the changes are committed; only the result is missing. */
  readonly step?: string | undefined
  /** Branches on servers that the call pushed to, each with its commits before and after; `null` is no branch. */
  readonly pushes?: readonly AuditedPush[] | undefined
  /** The checks that ran after the change, with the number of their findings, or why there is none. */
  readonly checks?:
    | readonly { readonly name: string; readonly findings: number; readonly problem?: string | undefined }[]
    | undefined
  /** Accesses of a command that were refused, each once. The call itself may have continued. */
  readonly refusals?:
    | readonly { readonly permission: Permission | 'file:write'; readonly path: string; readonly code: string }[]
    | undefined
}

/** The position of a record in its chain. */
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

/** The head of an empty chain, which the first record links to. */
export const emptyChain: ChainHead = { sequence: 0, hash: '0'.repeat(64) }

/** Returns the next record of a chain. */
export function chain(entry: AuditEntry, { sequence, hash }: ChainHead): AuditRecord {
  const body = { ...entry, sequence: sequence + 1, timestamp: isoTime(entry.timestamp) }
  return { ...body, previousHash: hash, hash: hashOf(body, hash) }
}

/** Returns the hash that a record must have, computed from its content. */
export function expectedHash({ previousHash, hash: _, ...body }: AuditRecord): string {
  return hashOf(body, previousHash)
}

/** Returns the only valid text of a record: canonical JSON, without a line end. */
export function recordText(record: AuditRecord): string {
  return canonicalJson(record)
}

/** Replaces the hash of a file that is secret by its name: the hash would confirm a guess of the content. */
export const HIDDEN_VERSION = 'hidden'

const isPairs = must(
  'a list of pairs of a path and a sha256',
  (versions) => Array.isArray(versions) && versions.every((pair) => Array.isArray(pair) && typeof pair[0] === 'string'),
)

/** Returns versions by path as an object that is safe for any path. */
export function shaMap(
  versions: readonly (readonly [path: string, sha256: string | null])[],
): Readonly<Record<string, string | null>> {
  checkArgument('shaMap()', 'versions', versions, isPairs)
  const map: Record<string, string | null> = {}
  // Several times faster than `fromEntries`.
  for (const [path, version] of versions) {
    if (path === '__proto__') return Object.fromEntries(versions)
    map[path] = version
  }
  return map
}

function hashOf(body: object, previousHash: string): string {
  return sha256Text(previousHash + canonicalJson(body))
}

function isoTime(timestamp: number): string {
  const date = new Date(timestamp)
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString()
}
