import { closeSync, existsSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { checkArgument, checkOptions, isText, refuseSurplus } from '../util/check-options.ts'
import { openRegularFile } from '../util/regular-file.ts'
import { type AuditRecord, recordText } from './record.ts'
import { rotatedFiles } from './rotation.ts'
import { type AuditCheck, type VerifyOptions, verifyAudit, verifyTable } from './verify.ts'

/** The {@link AuditCheck} of a file. If a chain breaks, `file` and `line` (from 1) are its location. */
export type AuditFileCheck = AuditCheck & { readonly file?: string; readonly line?: number }

/**
 * Yields the records of an audit file in order, starting with its rotated files.
 *
 * @throws Error that names the first line that is not a record in the exact form written by this library
 */
export function* readAuditFile(file: string): Generator<AuditRecord> {
  refuseSurplus('readAuditFile()', 1, arguments)
  checkArgument('readAuditFile()', 'file', file, isText)
  for (const { name, line, record } of linesOfAll(file)) {
    if (record === undefined) throw new Error(flawedLine(name, line))
    yield record
  }
}

/**
 * Checks an audit file with its rotated files, byte by byte: finds a changed, missing or moved line, even if it parses to the
 * same record. Records removed at the end are only detected with `head`. Never throws for any file.
 *
 * @throws TypeError for invalid options
 */
export function verifyAuditFile(file: string, requested?: VerifyOptions): AuditFileCheck {
  refuseSurplus('verifyAuditFile()', 2, arguments)
  checkArgument('verifyAuditFile()', 'file', file, isText)
  const options = checkOptions<VerifyOptions>('verifyAuditFile()', requested, verifyTable)
  let count = 0
  let location: { name: string; line: number } | undefined
  let flaw: string | undefined
  function* counted() {
    for (const { name, line, record } of linesOfAll(file)) {
      location = { name, line }
      if (record === undefined) {
        flaw = flawedLine(name, line)
        return
      }
      yield record
      count += 1
    }
    location = undefined
  }
  const check = attempt(() => verifyAudit(counted(), options))
  if (check === undefined) return { ok: false, at: count, reason: 'The audit file cannot be read' }
  if (check.ok && flaw === undefined) return check
  const lineOfFile = location === undefined ? {} : { file: location.name, line: location.line }
  if (flaw !== undefined) return { ok: false, at: count, reason: flaw, ...lineOfFile }
  return { ...check, ...lineOfFile }
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}

function flawedLine(name: string, line: number): string {
  return `Line ${line} of ${JSON.stringify(name)} is not a record, or was changed`
}

function* linesOfAll(file: string): Generator<{ name: string; line: number; record: AuditRecord | undefined }> {
  const rotated = rotatedFiles(file)
  for (const part of [...rotated, file]) {
    // The file does not exist between the two steps of a rotation.
    if (part === file && rotated.length > 0 && !existsSync(file)) return
    let line = 0
    for (const text of linesOf(part)) {
      line += 1
      yield { name: basename(part), line, record: parseLine(text) }
    }
  }
}

const NEWLINE = 0x0a
const CHUNK = 64 * 1024
/** Longer lines are not records. */
const MAX_LINE = 64 * 1024 * 1024

/** Returns the last complete line and where it ends. */
export function lastLine(fd: number, size: number): { end: number; line: string | undefined } {
  const parts: Buffer[] = []
  let start = size
  let end: number | undefined
  while (start > 0) {
    if (size - start > MAX_LINE) throw new TypeError('Cannot continue the audit file: its last line is too long')
    const length = Math.min(CHUNK, start)
    start -= length
    let bytes = readAt(fd, start, length)
    if (end === undefined) {
      const newline = bytes.lastIndexOf(NEWLINE)
      if (newline === -1) continue
      end = start + newline + 1
      bytes = bytes.subarray(0, newline)
    }
    const before = bytes.lastIndexOf(NEWLINE)
    parts.unshift(bytes.subarray(before + 1))
    if (before !== -1) break
  }
  return end === undefined ? { end: 0, line: undefined } : { end, line: Buffer.concat(parts).toString('utf8') }
}

export function readAt(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length)
  let filled = 0
  while (filled < length) {
    const read = readSync(fd, buffer, filled, length - filled, position + filled)
    if (read === 0) break
    filled += read
  }
  return buffer.subarray(0, filled)
}

/** Parses the record in a line. Returns `undefined` if the line is not exactly what would be written for it. */
export function parseLine(line: string): AuditRecord | undefined {
  try {
    const record = JSON.parse(line) as AuditRecord
    return typeof record === 'object' && record !== null && recordText(record) === line ? record : undefined
  } catch {
    return undefined
  }
}

/** Yields the lines of a file. Text after the last line end is yielded as a line that is not a record. */
function* linesOf(file: string): Generator<string> {
  const fd = openRegularFile(file)
  try {
    const chunk = Buffer.alloc(CHUNK)
    let parts: Buffer[] = []
    let length = 0
    while (length <= MAX_LINE) {
      const bytes = chunk.subarray(0, readSync(fd, chunk, 0, CHUNK, null))
      if (bytes.length === 0) break
      let start = 0
      for (let newline = bytes.indexOf(NEWLINE); newline !== -1; newline = bytes.indexOf(NEWLINE, start)) {
        yield exactText(Buffer.concat([...parts, bytes.subarray(start, newline)]))
        parts = []
        length = 0
        start = newline + 1
      }
      parts.push(Buffer.from(bytes.subarray(start)))
      length += bytes.length - start
    }
    if (length > 0) yield `${exactText(Buffer.concat(parts))} (cut short)`
  } finally {
    closeSync(fd)
  }
}

/** Decodes UTF-8. Returns '' for invalid bytes, which must not become a text that is accepted. */
function exactText(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return Buffer.byteLength(text) === bytes.length && Buffer.from(text).equals(bytes) ? text : ''
}
