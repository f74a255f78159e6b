import { type AuditRecord, type ChainHead, emptyChain, expectedHash } from './record.ts'

/** Whether a chain is whole, or where it breaks: `at` counts records from 0. */
export type AuditCheck =
  | { readonly ok: true; readonly count: number; readonly head: ChainHead }
  | { readonly ok: false; readonly at: number; readonly reason: string }

/** What is known of a chain from elsewhere. */
export interface VerifyOptions {
  /** The end that the chain must have, where it is known: without it, records cut off at the end do not show. */
  readonly head?: Pick<ChainHead, 'hash'>
  /** The record before the first one, where earlier ones are kept elsewhere. Default: the chain begins here. */
  readonly after?: Pick<ChainHead, 'hash'>
}

/**
 * Checks a chain of records from its beginning: a record that was changed, removed, added or moved is found, and where.
 * Whoever can write the whole chain can also make a new one: keep the head elsewhere to notice. Never throws.
 */
export function verifyAudit(records: Iterable<AuditRecord>, options: VerifyOptions = {}): AuditCheck {
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
    return { ok: false, at, reason: `The chain ends after ${at} records, but not with the expected hash` }
  }
  return { ok: true, count: at, head }
}

/** What the first record must follow: its own word says which number that had. */
function before(first: AuditRecord, { hash }: Pick<ChainHead, 'hash'>): ChainHead {
  const sequence = typeof first === 'object' && Number.isSafeInteger(first?.sequence) ? first.sequence - 1 : 0
  return { sequence, hash }
}

function flawOf(record: AuditRecord, previous: ChainHead): string | undefined {
  if (typeof record !== 'object' || record === null) return 'It is no record'
  if (record.sequence !== previous.sequence + 1) {
    return `Its sequence is ${JSON.stringify(record.sequence)} where ${previous.sequence + 1} was expected: a record was removed, added or moved`
  }
  if (record.previousHash !== previous.hash) return 'It does not follow the record before it'
  try {
    return expectedHash(record) === record.hash ? undefined : 'Its content does not have its hash: it was changed'
  } catch {
    return 'It is no record'
  }
}
