import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isMutating } from '../policy/permissions.ts'
import type { AuditSink } from './audit-log.ts'
import { takeFileLock } from './file-lock.ts'
import { lastLine, parseLine, readAt, readAuditFile, verifyAuditFile } from './jsonl-file.ts'
import { type AuditRecord, type ChainHead, emptyChain, expectedHash, recordText } from './record.ts'
import { nextRotated, rotatedFiles } from './rotation.ts'

export { type AuditFileCheck, readAuditFile, verifyAuditFile } from './jsonl-file.ts'

/** How the file is written, and when the next one begins. */
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
  /**
   * Before the file would take more bytes than this, it becomes `FILE.1`, the next time `FILE.2` and so on, and a new
   * FILE goes on with the same chain. Default: it grows.
   */
  readonly rotateBytes?: number
}

/**
 * Appends one line of JSON per record to a file, made with mode 0600, and goes on with the chain that it holds. Only one
 * process may write a file at a time: another one is refused. A line is written whole or not at all. The file must lie
 * outside of what the workspace reaches: {@link AuditSink.file} is its real path.
 *
 * @throws TypeError when the file cannot be opened or is no audit file, its end is damaged, or another process holds it
 */
export function jsonlSink(file: string, options: JsonlSinkOptions = {}): AuditSink & { readonly file: string } {
  const { fsync = 'mutations', tornTail = 'cut', rotateBytes } = options
  if (!['mutations', 'always', 'never'].includes(fsync))
    throw new TypeError('fsync must be "mutations", "always" or "never"')
  if (!['cut', 'refuse'].includes(tornTail)) throw new TypeError('tornTail must be "cut" or "refuse"')
  if (rotateBytes !== undefined && !(Number.isSafeInteger(rotateBytes) && rotateBytes > 0))
    throw new TypeError('rotateBytes must be a positive safe integer')
  const path = realFile(file)
  const lock = lockOf(path)
  let opened: Opened
  try {
    opened = open(path, tornTail)
  } catch (error) {
    lock.release()
    throw error
  }
  let { fd, size, head } = opened
  let broken: string | undefined
  let closed = false

  function check(expected: number): void {
    const stat = fstatSync(fd)
    if (stat.size === expected && stat.nlink > 0) return
    broken = stat.nlink > 0 ? 'something else writes to the audit file' : 'the audit file was deleted'
    throw new Error(broken)
  }

  /** The chain goes on in a new file. Until that is there, the old one is the place to write to. */
  function rotate(): void {
    const [here, there] = [fstatSync(fd), lstatSync(path)]
    if (here.ino !== there.ino || here.dev !== there.dev) {
      broken = 'something else has moved the audit file'
      throw new Error(broken)
    }
    if (fsync !== 'never') fsyncSync(fd)
    const aside = nextRotated(path)
    renameSync(path, aside)
    let next: number
    try {
      next = openSync(path, FLAGS | constants.O_EXCL, 0o600)
    } catch (error) {
      renameSync(aside, path)
      throw error
    }
    closeSync(fd)
    fd = next
    size = 0
    if (fsync !== 'never') syncDirectory(dirname(path))
  }

  return {
    file: path,
    head: () => head,
    records: () => [...readAuditFile(path)],
    verify: () => verifyAuditFile(path),
    append(record) {
      if (closed) throw new Error('the audit file is closed')
      if (broken !== undefined) throw new Error(broken)
      check(size)
      const line = Buffer.from(`${recordText(record)}\n`)
      if (rotateBytes !== undefined && size > 0 && size + line.length > rotateBytes) rotate()
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

interface Opened {
  readonly fd: number
  readonly size: number
  readonly head: ChainHead
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

const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDWR } = constants
const FLAGS = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK

function open(path: string, tornTail: 'cut' | 'refuse'): Opened {
  const fd = attempt('open', () => openSync(path, FLAGS, 0o600))
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw new TypeError('Cannot open the audit file: it is no ordinary file')
    const { end, line } = lastLine(fd, stat.size)
    if (end < stat.size) cutTail(fd, path, end, stat.size, tornTail)
    return { fd, size: end, head: line === undefined ? headBefore(path) : headOf(line) }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Where the chain ends in the files that this one was rotated into. */
function headBefore(path: string): ChainHead {
  const last = rotatedFiles(path).at(-1)
  if (last === undefined) return emptyChain
  const fd = attempt('read', () => openSync(last, constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
  try {
    const { size } = fstatSync(fd)
    const { end, line = '' } = lastLine(fd, size)
    return headOf(end === size ? line : '')
  } finally {
    closeSync(fd)
  }
}

function headOf(line: string): ChainHead {
  const record = parseLine(line)
  if (record === undefined || expectedHash(record) !== record.hash) {
    throw new TypeError('Cannot continue the audit file: its last line is no audit record, or was changed')
  }
  return { sequence: record.sequence, hash: record.hash }
}

/** So that a new name survives a power cut, where the platform can say so. */
function syncDirectory(directory: string): void {
  let fd: number
  try {
    fd = openSync(directory, constants.O_RDONLY)
  } catch {
    /* v8 ignore next -- @preserve: there are platforms that open no directories */
    return
  }
  try {
    fsyncSync(fd)
  } catch {
    // Some platforms cannot.
  } finally {
    closeSync(fd)
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

function cutTail(fd: number, path: string, end: number, size: number, tornTail: 'cut' | 'refuse'): void {
  if (tornTail === 'refuse') {
    throw new TypeError(`Cannot continue the audit file: its last line is cut short, at byte ${end}`)
  }
  appendFileSync(`${path}.torn`, Buffer.concat([readAt(fd, end, size - end), Buffer.from('\n')]), { mode: 0o600 })
  ftruncateSync(fd, end)
}
