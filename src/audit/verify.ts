import { checkArgument, checkOptions, must, type OptionTable, refuseSurplus } from '../util/check-options.ts'
import { counted } from '../util/counted.ts'
import { type AuditRecord, type ChainHead, emptyChain, expectedHash } from './record.ts'

/** Whether a chain is intact, or where it breaks: `at` counts records from 0. */
export type AuditCheck =
  | { readonly ok: true; readonly count: number; readonly head: ChainHead }
  | { readonly ok: false; readonly at: number; readonly reason: string }

/** Hashes known from another source. */
export interface VerifyOptions {
  /** The expected end of the chain. Without it, records removed at the end are not detected. */
  readonly head?: Pick<ChainHead, 'hash'>
  /** The record before the first one, if earlier records are stored elsewhere. Default: the chain begins here. */
  readonly after?: Pick<ChainHead, 'hash'>
}

const isHead = must(
  'a record or the end of a chain',
  (value) => typeof (value as Partial<ChainHead>)?.hash === 'string',
)

/** The options of {@link verifyAudit}. */
export const verifyTable: OptionTable<VerifyOptions> = { head: isHead, after: isHead }

/** Checks an argument that takes audit records. They may be a generator, so each is checked when it is read. */
export const isRecords = must(
  'a list of audit records',
  (records) => typeof records === 'object' && typeof Object(records)[Symbol.iterator] === 'function',
)

/**
 * Checks a chain of records. Finds the first record that was changed, removed, added or moved. A writer of the whole chain
 * can replace it by a new one, which only `options.head` reveals: store the head elsewhere. Never throws for any records.
 *
 * @throws TypeError for invalid options
 */
export function verifyAudit(records: Iterable<AuditRecord>, requested?: VerifyOptions): AuditCheck {
  refuseSurplus('verifyAudit()', 2, arguments)
  checkArgument('verifyAudit()', 'records', records, isRecords)
  const options = checkOptions<VerifyOptions>('verifyAudit()', requested, verifyTable)
  let head = emptyChain
  let at = 0
  for (const record of records) {
    if (at === 0 && options.after !== undefined) head = before(record, options.after)
    const reason = flawOf(record, head)
    if (reason !== undefined) return { ok: false, at, reason }
    head = { sequence: record.sequence, hash: record.hash }
    at += 1
  }
  if (options.head !== undefined && options.head.hash !== head.hash) {
    return { ok: false, at, reason: `The chain ends after ${counted(at, 'record')}, but not with the expected hash` }
  }
  return { ok: true, count: at, head }
}

/** Returns what the first record must follow. The sequence is taken from the record itself. */
function before(first: AuditRecord, { hash }: Pick<ChainHead, 'hash'>): ChainHead {
  const sequence = typeof first === 'object' && Number.isSafeInteger(first?.sequence) ? first.sequence - 1 : 0
  return { sequence, hash }
}

function flawOf(record: AuditRecord, previous: ChainHead): string | undefined {
  if (typeof record !== 'object' || record === null) return 'It is not a record'
  if (record.sequence !== previous.sequence + 1) {
    return `Its sequence is ${JSON.stringify(record.sequence)} where ${previous.sequence + 1} was expected: a record was removed, added or moved`
  }
  if (record.previousHash !== previous.hash) return 'It does not follow the record before it'
  try {
    return expectedHash(record) === record.hash ? undefined : 'Its content does not match its hash: it was changed'
  } catch {
    return 'It is not a record'
  }
}
