import { ToolError } from '../errors.ts'
import { redact } from '../files/secrets/index.ts'
import { type AuditEntry, type AuditRecord, type ChainHead, chain, emptyChain, shaMap } from './record.ts'
import type { AuditCheck } from './verify.ts'

export {
  type AuditEntry,
  type AuditedPush,
  type AuditRecord,
  type ChainHead,
  HIDDEN_VERSION,
  shaMap,
} from './record.ts'
export { type AuditCheck, verifyAudit } from './verify.ts'

/** A destination for audit records. Each sink has its own complete chain. */
export interface AuditSink {
  /** Stores the next record of its chain. If it throws, the record is not part of the chain, and a later one takes its position. */
  append(record: AuditRecord): void | Promise<void>
  /** Returns the end of the existing chain. Default: an empty chain. */
  head?(): ChainHead
  /** Receives the entries instead of the records, for sinks that build the chain later. Must not throw. */
  accept?(entry: AuditEntry): void
  /** Returns the records, if the sink keeps them. */
  records?(): readonly AuditRecord[]
  /** Checks the stored data more strictly than the records alone allow. */
  verify?(): AuditCheck
  /** The absolute physical path of its file, which must be outside of the workspace. */
  readonly file?: string
  /** Called once, when the workspace is closed and all records have been passed to the sink. */
  close?(): void | Promise<void>
}

export interface AuditOptions {
  readonly sinks: readonly AuditSink[]
}

/** The audit of a workspace. */
export interface Audit {
  /**
   * Passes an entry to every sink, in the order of the calls. The entry must not be changed afterwards. Secrets in it are
   * redacted. Synchronous if every sink is; otherwise it resolves when all sinks have the entry.
   *
   * @throws ToolError `AUDIT_FAILED` if a sink failed. The other sinks still have the entry
   */
  record(entry: AuditEntry): void | Promise<void>
  /** Waits for pending records and closes the sinks. */
  close(): Promise<void>
}

/** Maximum length of a reason or task, and of a plan, in UTF-16 units. Longer ones are cut. */
const MAX_TEXT = 2000
const MAX_PLAN = 20_000

/**
 * Creates the audit of a workspace.
 *
 * @throws TypeError for an invalid sink
 */
export function createAudit({ sinks }: AuditOptions): Audit {
  for (const [index, sink] of sinks.entries()) {
    if (typeof sink?.append !== 'function')
      throw new TypeError(`audit[${index}] is not an audit sink: it has no append function`)
  }
  const writers = sinks.map(createWriter)
  let closed = false

  return {
    record(entry) {
      if (closed) throw auditFailed()
      const safe = withoutSecrets(entry)
      let failed = false
      let pending: Promise<void>[] | undefined
      for (const write of writers) {
        try {
          const completion = write(safe)
          if (completion !== undefined) {
            pending ??= []
            pending.push(completion)
          }
        } catch {
          failed = true
        }
      }
      if (pending !== undefined) return settle(pending, failed)
      if (failed) throw auditFailed()
    },
    async close() {
      if (closed) return
      closed = true
      await Promise.allSettled(writers.map((write) => write(undefined)))
      const closing = await Promise.allSettled(sinks.map(async (sink) => sink.close?.()))
      if (closing.some(({ status }) => status === 'rejected')) throw auditFailed()
    },
  }
}

async function settle(pending: readonly Promise<void>[], failed: boolean): Promise<void> {
  const results = await Promise.allSettled(pending)
  if (failed || results.some(({ status }) => status === 'rejected')) throw auditFailed()
}

function auditFailed(): ToolError {
  return new ToolError('AUDIT_FAILED', 'The audit record could not be written')
}

/** Redacts secrets in text from callers: reasons, tasks, plans and names. */
function withoutSecrets(entry: AuditEntry): AuditEntry {
  const { reason, task, pathsAsked, plan } = entry
  const redacted = mayNameSecret(entry) ? withoutSecretNames(entry) : entry
  if (reason === undefined && task === undefined && pathsAsked === undefined && plan === undefined) return redacted
  return {
    ...redacted,
    toolName: safeText(entry.toolName, 100),
    ...(reason === undefined ? {} : { reason: safeText(reason, MAX_TEXT) }),
    ...(task === undefined
      ? {}
      : { task: { ...task, ...safeGlobs('scope', task.scope), text: safeText(task.text, MAX_TEXT) } }),
    ...(plan === undefined
      ? {}
      : { plan: { ...plan, ...safeGlobs('paths', plan.paths), text: safeText(plan.text, MAX_PLAN) } }),
    ...(pathsAsked === undefined ? {} : { pathsAsked: pathsAsked.map((path) => safeText(path, 300)) }),
  }
}

function safeGlobs<F extends string>(field: F, globs: readonly string[] | undefined): { readonly [K in F]?: string[] } {
  if (globs === undefined) return {}
  return { [field]: globs.map((glob) => safeText(glob, MAX_TEXT)) } as { [K in F]: string[] }
}

/** Every known secret format has such a part. Hardly any name does. */
const LONG_WORD = /[\w-]{16}/

/** The last two texts without a long word. */
let previous = ''
let last = ''

/** Whether a text has a long word. Paths share prefixes, so only the part that the last two texts do not have is checked. */
function hasLongWord(text: string): boolean {
  const above = text.startsWith(last) ? last : text.startsWith(previous) ? previous : ''
  const start = Math.max(0, above.length - 15)
  if (text.length - start < 16) return false
  if (LONG_WORD.test(start === 0 ? text : text.slice(start))) return true
  previous = last
  last = text
  return false
}

function mayNameSecret(entry: AuditEntry): boolean {
  const { pathsRead, pathsWritten, pathsSearched, policyDecision, pushes, refusals, taint } = entry
  return (
    pathsRead.some(hasLongWord) ||
    pathsWritten.some(hasLongWord) ||
    pathsSearched?.some(hasLongWord) === true ||
    (taint?.path !== undefined && hasLongWord(taint.path)) ||
    pushes?.some(({ url, ref }) => hasLongWord(url) || hasLongWord(ref)) === true ||
    refusals?.some(({ path }) => hasLongWord(path)) === true ||
    policyDecision.rules.some(({ path }) => path !== undefined && hasLongWord(path))
  )
}

/** Names without secrets that were met last. The two records of a call have the same names, and so do many calls. */
const safeNames = new Set<string>()
const MAX_NAMES = 10_000

function safeName(path: string): string {
  if (safeNames.has(path)) return path
  const { text } = redact(path)
  if (text === path) {
    if (safeNames.size === MAX_NAMES) safeNames.clear()
    safeNames.add(path)
  }
  return text
}

function withoutSecretNames(entry: AuditEntry): AuditEntry {
  const versions = (map: AuditEntry['oldSha256']) =>
    Object.keys(map).every((path) => safeName(path) === path)
      ? map
      : shaMap(Object.entries(map).map(([path, version]) => [safeName(path), version]))
  const { pathsSearched, readSha256, pushes, refusals, policyDecision, taint } = entry
  return {
    ...entry,
    pathsRead: entry.pathsRead.map(safeName),
    pathsWritten: entry.pathsWritten.map(safeName),
    oldSha256: versions(entry.oldSha256),
    newSha256: versions(entry.newSha256),
    policyDecision: {
      ...policyDecision,
      rules: policyDecision.rules.map((rule) =>
        rule.path === undefined ? rule : { ...rule, path: safeName(rule.path) },
      ),
    },
    ...(pathsSearched === undefined ? {} : { pathsSearched: pathsSearched.map(safeName) }),
    ...(readSha256 === undefined ? {} : { readSha256: versions(readSha256) }),
    ...(pushes === undefined
      ? {}
      : { pushes: pushes.map((one) => ({ ...one, url: safeName(one.url), ref: safeName(one.ref) })) }),
    ...(refusals === undefined ? {} : { refusals: refusals.map((one) => ({ ...one, path: safeName(one.path) })) }),
    ...(taint?.path === undefined ? {} : { taint: { ...taint, path: safeName(taint.path) } }),
  }
}

/** Redacts and cuts a text, in that order, so that no part of a secret is left. */
function safeText(original: string, maxLength: number): string {
  const { text } = redact(original)
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`
}

/** Writes an entry to one sink. Without an entry, waits for the pending ones. */
type Writer = (entry: AuditEntry | undefined) => void | Promise<void>

/**
 * Builds the chain of one sink. Its head advances only when the sink has stored a record, so a failure leaves no gap. While
 * a record is pending, the next ones wait.
 */
function createWriter(sink: AuditSink): Writer {
  if (sink.accept !== undefined) {
    return (entry) => (entry === undefined ? undefined : sink.accept?.(entry))
  }
  let head: ChainHead = sink.head?.() ?? emptyChain
  let waiting: Promise<void> | undefined

  function write(entry: AuditEntry): void | Promise<void> {
    const record = chain(entry, head)
    const completion: unknown = sink.append(record)
    if (!isThenable(completion)) {
      head = record
      return
    }
    return Promise.resolve(completion).then(() => {
      head = record
    })
  }

  return (entry) => {
    if (entry === undefined) return waiting?.catch(() => {})
    if (waiting === undefined) {
      const completion = write(entry)
      if (completion === undefined) return
      waiting = completion
    } else {
      waiting = waiting.catch(() => {}).then(() => write(entry))
    }
    const current = waiting
    const done = () => {
      if (waiting === current) waiting = undefined
    }
    current.then(done, done)
    return current
  }
}

/** A sink written in plain JavaScript may return anything. */
function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
