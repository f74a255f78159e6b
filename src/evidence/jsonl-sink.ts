import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  realpathSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isMutating } from '../access.ts'
import type { AuditSink } from './audit.ts'
import { type AuditRecord, type ChainHead, emptyChain, expectedHash, recordText } from './audit-record.ts'
import { takeFileLock } from './file-lock.ts'
import { type AuditCheck, type VerifyOptions, verifyAudit } from './verify-audit.ts'

export interface JsonlSinkOptions {
  /**
   * What must be on the disk before it counts as written: the intents of mutations (`mutations`, the default), every
   * record (`always`), or nothing (`never`: what a power cut takes is lost).
   */
  readonly fsync?: 'mutations' | 'always' | 'never'
  /**
   * What to do with a last line that a crash has cut short. Its record was never acknowledged. `cut` (the default) moves
   * it to `FILE.torn` and goes on; `refuse` throws.
   */
  readonly tornTail?: 'cut' | 'refuse'
}

/**
 * Appends one line of JSON per record to a file, made with mode 0600, and goes on with the chain that it holds. Only one
 * process may write a file at a time: another one is refused. A line is written whole or not at all. The file must lie
 * outside of what the workspace reaches: {@link AuditSink.file} is its real path.
 *
 * @throws TypeError when the file cannot be opened or is no audit file, its end is damaged, or another process holds it
 */
export function jsonlSink(file: string, options: JsonlSinkOptions = {}): AuditSink & { readonly file: string } {
  const { fsync = 'mutations', tornTail = 'cut' } = options
  if (!['mutations', 'always', 'never'].includes(fsync))
    throw new TypeError('fsync must be "mutations", "always" or "never"')
  if (!['cut', 'refuse'].includes(tornTail)) throw new TypeError('tornTail must be "cut" or "refuse"')
  const path = realFile(file)
  const lock = lockOf(path)
  let opened: { fd: number; size: number; head: ChainHead }
  try {
    opened = open(path, tornTail)
  } catch (error) {
    lock.release()
    throw error
  }
  const { fd } = opened
  let { size, head } = opened
  let broken: string | undefined
  let closed = false

  function check(expected: number): void {
    const stat = fstatSync(fd)
    if (stat.size === expected && stat.nlink > 0) return
    broken = stat.nlink > 0 ? 'something else writes to the audit file' : 'the audit file was deleted'
    throw new Error(broken)
  }

  return {
    file: path,
    head: () => head,
    append(record) {
      if (closed) throw new Error('the audit file is closed')
      if (broken !== undefined) throw new Error(broken)
      check(size)
      const line = Buffer.from(`${recordText(record)}\n`)
      try {
        const written = writeSync(fd, line)
        if (written !== line.length) throw new Error('the audit record could not be written whole')
        check(size + line.length)
        if (fsync === 'always' || (fsync === 'mutations' && announcesMutation(record))) fsyncSync(fd)
      } catch (error) {
        // A part of a line must not stay. If even that fails, nothing more may be written behind it.
        if (broken === undefined) {
          broken = 'the audit file could not be set back after a failed write'
          ftruncateSync(fd, size)
          broken = undefined
        }
        throw error
      }
      size += line.length
      head = { sequence: record.sequence, hash: record.hash }
    },
    close() {
      if (closed) return
      closed = true
      try {
        if (fsync !== 'never') fsyncSync(fd)
      } finally {
        closeSync(fd)
        lock.release()
      }
    },
  }
}

/**
 * The records of an audit file, one after the other.
 *
 * @throws Error that names the first line which is no record as this library writes it
 */
export function* readAuditFile(file: string): Generator<AuditRecord> {
  let number = 0
  for (const line of linesOf(file)) {
    number += 1
    const record = parseLine(line)
    if (record === undefined) throw new Error(`Line ${number} of the audit file is no record, or was changed`)
    yield record
  }
}

/** Checks an audit file to the byte: a changed, missing or moved line is found, also where it would parse as before. */
export function verifyAuditFile(file: string, options: VerifyOptions = {}): AuditCheck {
  let count = 0
  function* counted() {
    for (const record of readAuditFile(file)) {
      yield record
      count += 1
    }
  }
  try {
    return verifyAudit(counted(), options)
  } catch (error) {
    return {
      ok: false,
      at: count,
      reason:
        error instanceof Error && error.message.startsWith('Line ') ? error.message : 'The audit file cannot be read',
    }
  }
}

function announcesMutation({ phase, pathsWritten, permission }: AuditRecord): boolean {
  return phase === 'intent' && (pathsWritten.length > 0 || (permission !== undefined && isMutating(permission)))
}

/** The real path, also of a file that is not there yet. */
function realFile(file: string): string {
  if (typeof file !== 'string' || file === '') throw new TypeError('jsonlSink needs the path of a file')
  const absolute = resolve(file)
  try {
    return realpathSync(absolute)
  } catch {
    try {
      return join(realpathSync(dirname(absolute)), basename(absolute))
    } catch {
      throw new TypeError('Cannot open the audit file: its directory does not exist')
    }
  }
}

function lockOf(path: string) {
  const lock = attempt('lock', () => takeFileLock(`${path}.lock`))
  if (lock === undefined)
    throw new TypeError(
      'Cannot open the audit file: another process, or another sink, writes to it; if none does, delete its .lock file',
    )
  return lock
}

function open(path: string, tornTail: 'cut' | 'refuse'): { fd: number; size: number; head: ChainHead } {
  const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDWR } = constants
  const fd = attempt('open', () => openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600))
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw new TypeError('Cannot open the audit file: it is no ordinary file')
    const { end, line } = lastLine(fd, stat.size)
    if (end < stat.size) cutTail(fd, path, end, stat.size, tornTail)
    if (line === undefined) return { fd, size: end, head: emptyChain }
    const record = parseLine(line)
    if (record === undefined || expectedHash(record) !== record.hash) {
      throw new TypeError('Cannot continue the audit file: its last line is no audit record, or was changed')
    }
    return { fd, size: end, head: { sequence: record.sequence, hash: record.hash } }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

function attempt<T>(what: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new TypeError(`Cannot ${what} the audit file: ${code}`)
  }
}

const NEWLINE = 0x0a
const CHUNK = 64 * 1024
/** A longer line is no record of ours. */
const MAX_LINE = 64 * 1024 * 1024

/** The last whole line and where it ends. */
function lastLine(fd: number, size: number): { end: number; line: string | undefined } {
  let tail = Buffer.alloc(0)
  let start = size
  let end = -1
  while (start > 0) {
    if (tail.length > MAX_LINE) throw new TypeError('Cannot continue the audit file: its last line is too long')
    const length = Math.min(CHUNK, start)
    start -= length
    tail = Buffer.concat([readAt(fd, start, length), tail])
    if (end === -1) {
      const newline = tail.lastIndexOf(NEWLINE)
      if (newline === -1) continue
      end = start + newline + 1
    }
    const before = tail.lastIndexOf(NEWLINE, end - start - 2)
    if (end - start >= 2 && before !== -1) {
      return { end, line: tail.toString('utf8', before + 1, end - start - 1) }
    }
  }
  return end === -1 ? { end: 0, line: undefined } : { end, line: tail.toString('utf8', 0, end - 1) }
}

function readAt(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length)
  let filled = 0
  while (filled < length) {
    const read = readSync(fd, buffer, filled, length - filled, position + filled)
    if (read === 0) break
    filled += read
  }
  return buffer.subarray(0, filled)
}

function cutTail(fd: number, path: string, end: number, size: number, tornTail: 'cut' | 'refuse'): void {
  if (tornTail === 'refuse') {
    throw new TypeError(`Cannot continue the audit file: its last line is cut short, at byte ${end}`)
  }
  appendFileSync(`${path}.torn`, Buffer.concat([readAt(fd, end, size - end), Buffer.from('\n')]), { mode: 0o600 })
  ftruncateSync(fd, end)
}

/** The record of a line, if the line is exactly what would be written for it. */
function parseLine(line: string): AuditRecord | undefined {
  try {
    const record = JSON.parse(line) as AuditRecord
    return typeof record === 'object' && record !== null && recordText(record) === line ? record : undefined
  } catch {
    return undefined
  }
}

/** The lines of a file. What follows the last line end is one, too, and no record. */
function* linesOf(file: string): Generator<string> {
  const fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const chunk = Buffer.alloc(CHUNK)
    let rest = Buffer.alloc(0)
    for (;;) {
      const read = readSync(fd, chunk, 0, CHUNK, null)
      if (read === 0) break
      let bytes = Buffer.concat([rest, chunk.subarray(0, read)])
      for (let newline = bytes.indexOf(NEWLINE); newline !== -1; newline = bytes.indexOf(NEWLINE)) {
        yield exactText(bytes.subarray(0, newline))
        bytes = bytes.subarray(newline + 1)
      }
      rest = bytes
      if (rest.length > MAX_LINE) break
    }
    if (rest.length > 0) yield `${exactText(rest)} (cut short)`
  } finally {
    closeSync(fd)
  }
}

/** Bytes that are no UTF-8 must not turn into a text that happens to be right. */
function exactText(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return Buffer.byteLength(text) === bytes.length && Buffer.from(text).equals(bytes) ? text : ''
}
