import { ToolError } from '../errors.ts'
import { redact } from '../files/secrets/index.ts'
import { type AuditEntry, type AuditRecord, type ChainHead, chain, emptyChain, shaMap } from './record.ts'
import type { AuditCheck } from './verify.ts'

export { type AuditEntry, type AuditRecord, type ChainHead, HIDDEN_VERSION, shaMap } from './record.ts'
export { type AuditCheck, verifyAudit } from './verify.ts'

/** Where audit records go. Each sink holds a whole chain of its own. */
export interface AuditSink {
  /** Takes the next record of its chain, or throws: then the record is not part of it, and a later one takes its place. */
  append(record: AuditRecord): void | Promise<void>
  /** Where the chain ends that it holds already. Left out: it is empty. */
  head?(): ChainHead
  /** A sink that chains for itself, later, takes the entries instead of the records. Must not throw. */
  accept?(entry: AuditEntry): void
  /** The records, where it keeps them. */
  records?(): readonly AuditRecord[]
  /** Checks what it keeps more closely than by its records. */
  verify?(): AuditCheck
  /** The absolute physical path of the file that it writes, which must lie outside of what the workspace reaches. */
  readonly file?: string
  /** Called once, when the workspace is closed and every record is on its way. */
  close?(): void | Promise<void>
}

export interface AuditOptions {
  readonly sinks: readonly AuditSink[]
}

/** The audit of a workspace. */
export interface Audit {
  /**
   * Hands an entry to every sink, in the order of the calls. The entry is taken over: nobody may change it afterwards.
   * Secrets in its reason are marked. Synchronous where every sink is; else it settles when all have it.
   *
   * @throws ToolError `AUDIT_FAILED` when a sink could not take it; the others have it nevertheless
   */
  record(entry: AuditEntry): void | Promise<void>
  /** Waits for what is on its way and closes the sinks. */
  close(): Promise<void>
}

/** A longer reason or task is cut, in UTF-16 units. */
const MOST_TEXT = 2000
const MOST_PLAN = 20_000

/**
 * The audit over some sinks.
 *
 * @throws TypeError for what is no sink
 */
export function createAudit({ sinks }: AuditOptions): Audit {
  for (const [index, sink] of sinks.entries()) {
    if (typeof sink?.append !== 'function')
      throw new TypeError(`audit[${index}] is no audit sink: it has no append function`)
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
          const written = write(safe)
          if (written !== undefined) {
            pending ??= []
            pending.push(written)
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

/** Without the secrets in what callers have written: reasons, the task, and names that they made up. */
function withoutSecrets(entry: AuditEntry): AuditEntry {
  const { reason, task, pathsAsked, plan } = entry
  const named = mayNameSecret(entry) ? withoutSecretNames(entry) : entry
  if (reason === undefined && task === undefined && pathsAsked === undefined && plan === undefined) return named
  return {
    ...named,
    toolName: safeText(entry.toolName, 100),
    ...(reason === undefined ? {} : { reason: safeText(reason, MOST_TEXT) }),
    ...(task === undefined
      ? {}
      : { task: { ...task, ...safeGlobs('scope', task.scope), text: safeText(task.text, MOST_TEXT) } }),
    ...(plan === undefined
      ? {}
      : { plan: { ...plan, ...safeGlobs('paths', plan.paths), text: safeText(plan.text, MOST_PLAN) } }),
    ...(pathsAsked === undefined ? {} : { pathsAsked: pathsAsked.map((path) => safeText(path, 300)) }),
  }
}

function safeGlobs<F extends string>(field: F, globs: readonly string[] | undefined): { readonly [K in F]?: string[] } {
  if (globs === undefined) return {}
  return { [field]: globs.map((glob) => safeText(glob, MOST_TEXT)) } as { [K in F]: string[] }
}

/** Every known format is as long as this; hardly any name is. */
const LONG_WORD = /[\w-]{16}/
const isLong = (path: string) => path.length >= 16 && LONG_WORD.test(path)

function mayNameSecret(entry: AuditEntry): boolean {
  const { pathsRead, pathsWritten, pathsSearched, policyDecision, refusals, taint } = entry
  return (
    pathsRead.some(isLong) ||
    pathsWritten.some(isLong) ||
    pathsSearched?.some(isLong) === true ||
    (taint?.path !== undefined && isLong(taint.path)) ||
    refusals?.some(({ path }) => isLong(path)) === true ||
    policyDecision.rules.some(({ path }) => path !== undefined && isLong(path))
  )
}

function withoutSecretNames(entry: AuditEntry): AuditEntry {
  const safe = (path: string) => redact(path).text
  const versions = (map: AuditEntry['oldSha256']) =>
    shaMap(Object.entries(map).map(([path, version]) => [safe(path), version]))
  const { pathsSearched, readSha256, refusals, policyDecision, taint } = entry
  return {
    ...entry,
    pathsRead: entry.pathsRead.map(safe),
    pathsWritten: entry.pathsWritten.map(safe),
    oldSha256: versions(entry.oldSha256),
    newSha256: versions(entry.newSha256),
    policyDecision: {
      ...policyDecision,
      rules: policyDecision.rules.map((rule) => (rule.path === undefined ? rule : { ...rule, path: safe(rule.path) })),
    },
    ...(pathsSearched === undefined ? {} : { pathsSearched: pathsSearched.map(safe) }),
    ...(readSha256 === undefined ? {} : { readSha256: versions(readSha256) }),
    ...(refusals === undefined ? {} : { refusals: refusals.map((one) => ({ ...one, path: safe(one.path) })) }),
    ...(taint?.path === undefined ? {} : { taint: { ...taint, path: safe(taint.path) } }),
  }
}

/** Secrets are marked before the cut, so that no half of one is left. */
function safeText(given: string, most: number): string {
  const { text } = redact(given)
  return text.length <= most ? text : `${text.slice(0, most)}…`
}

/** Writes an entry to one sink; without one, waits for those on their way. */
type Writer = (entry: AuditEntry | undefined) => void | Promise<void>

/**
 * Keeps the chain of one sink. Its head moves on only when the sink has taken a record, so that one which failed leaves
 * no gap. While a record is on its way, the next ones wait.
 */
function createWriter(sink: AuditSink): Writer {
  if (sink.accept !== undefined) {
    return (entry) => (entry === undefined ? undefined : sink.accept?.(entry))
  }
  let head: ChainHead = sink.head?.() ?? emptyChain
  let waiting: Promise<void> | undefined

  function write(entry: AuditEntry): void | Promise<void> {
    const record = chain(entry, head)
    const written: unknown = sink.append(record)
    if (!isThenable(written)) {
      head = record
      return
    }
    return Promise.resolve(written).then(() => {
      head = record
    })
  }

  return (entry) => {
    if (entry === undefined) return waiting?.catch(() => {})
    if (waiting === undefined) {
      const written = write(entry)
      if (written === undefined) return
      waiting = written
    } else {
      waiting = waiting.catch(() => {}).then(() => write(entry))
    }
    const mine = waiting
    const done = () => {
      if (waiting === mine) waiting = undefined
    }
    mine.then(done, done)
    return mine
  }
}

/** A sink in plain JavaScript may return anything. */
function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
