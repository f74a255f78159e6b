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
import { checkOptions, isOneOf, isPositive, isText, refuseSurplus } from '../util/check-options.ts'
import type { AuditSink } from './audit-log.ts'
import { type FileLock, takeFileLock } from './file-lock.ts'
import { lastLine, parseLine, readAt, readAuditFile, verifyAuditFile } from './jsonl-file.ts'
import { type AuditRecord, type ChainHead, emptyChain, expectedHash, recordText } from './record.ts'
import { nextRotated, rotatedFiles } from './rotation.ts'

export { type AuditFileCheck, readAuditFile, verifyAuditFile } from './jsonl-file.ts'

/** How an audit file is written, and when it is rotated. */
export interface JsonlSinkOptions {
  /**
   * Which records must be on the disk before they count as written: the intents of mutations (`mutations`, the default),
   * every record (`always`), or none (`never`: a power failure may lose records).
   */
  readonly fsync?: 'mutations' | 'always' | 'never'
  /**
   * What to do with a last line that a crash has left incomplete. Its record was never acknowledged. `cut` (the default)
   * moves it to `FILE.torn` and continues; `refuse` throws.
   */
  readonly tornTail?: 'cut' | 'refuse'
  /**
   * Maximum size of the file in bytes. Before it is exceeded, the file is renamed to `FILE.1`, the next time to `FILE.2` and
   * so on, and a new file continues the chain. Default: no limit.
   */
  readonly rotateBytes?: number
}

/**
 * Returns a sink that appends one line of JSON per record to a file and continues the chain in it. The file is created with
 * mode 0600. Only one process may write to a file at a time. A line is written completely or not at all. The file must be
 * outside of the workspace: {@link AuditSink.file} is its real path.
 *
 * @throws TypeError if the file cannot be opened, is not an audit file, is damaged at its end, or is locked by another
 *   process
 */
export function jsonlSink(file: string, options?: JsonlSinkOptions): AuditSink & { readonly file: string } {
  refuseSurplus('jsonlSink()', 2, arguments)
  isText(file, 'file', 'jsonlSink()')
  const {
    fsync = 'mutations',
    tornTail = 'cut',
    rotateBytes,
  } = checkOptions<JsonlSinkOptions>('jsonlSink()', options, {
    fsync: isOneOf('mutations', 'always', 'never'),
    tornTail: isOneOf('cut', 'refuse'),
    rotateBytes: isPositive,
  })
  const path = realFile(file)
  const writer = new JsonlWriter(path, { fsync, tornTail, rotateBytes })
  return {
    file: path,
    head: () => writer.head,
    records: () => [...readAuditFile(path)],
    verify: () => verifyAuditFile(path),
    append: (record) => writer.append(record),
    close: () => writer.close(),
  }
}

interface WriterOptions {
  readonly fsync: 'mutations' | 'always' | 'never'
  readonly tornTail: 'cut' | 'refuse'
  readonly rotateBytes: number | undefined
}

/** Appends records to an audit file, and rotates it. Holds the lock of the file until it is closed. */
class JsonlWriter {
  readonly #path: string
  readonly #fsync: WriterOptions['fsync']
  readonly #rotateBytes: number | undefined
  readonly #lock: FileLock
  #fd: number
  #size: number
  #head: ChainHead
  /** Why nothing more may be written. */
  #broken: string | undefined
  #closed = false

  constructor(path: string, { fsync, tornTail, rotateBytes }: WriterOptions) {
    this.#path = path
    this.#fsync = fsync
    this.#rotateBytes = rotateBytes
    this.#lock = lockOf(path)
    try {
      const { fd, size, head } = open(path, tornTail)
      this.#fd = fd
      this.#size = size
      this.#head = head
    } catch (error) {
      this.#lock.release()
      throw error
    }
  }

  get head(): ChainHead {
    return this.#head
  }

  append(record: AuditRecord): void {
    if (this.#closed) throw new Error('the audit file is closed')
    if (this.#broken !== undefined) throw new Error(this.#broken)
    this.#requireSize(this.#size)
    const line = Buffer.from(`${recordText(record)}\n`)
    if (this.#rotateBytes !== undefined && this.#size > 0 && this.#size + line.length > this.#rotateBytes)
      this.#rotate()
    try {
      const byteCount = writeSync(this.#fd, line)
      if (byteCount !== line.length) throw new Error('the audit record was not written completely')
      this.#requireSize(this.#size + line.length)
      if (this.#fsync === 'always' || (this.#fsync === 'mutations' && announcesMutation(record))) fsyncSync(this.#fd)
    } catch (error) {
      // A partial line must not stay. If it cannot be removed, nothing more may be written after it.
      if (this.#broken === undefined) {
        this.#broken = 'a failed write to the audit file could not be undone'
        ftruncateSync(this.#fd, this.#size)
        this.#broken = undefined
      }
      throw error
    }
    this.#size += line.length
    this.#head = { sequence: record.sequence, hash: record.hash }
  }

  /** @throws Error if anything else has changed or deleted the file */
  #requireSize(expected: number): void {
    const stat = fstatSync(this.#fd)
    if (stat.size === expected && stat.nlink > 0) return
    this.#broken = stat.nlink > 0 ? 'another process writes to the audit file' : 'the audit file was deleted'
    throw new Error(this.#broken)
  }

  /** Continues the chain in a new file. If it cannot be created, the old file is used further. */
  #rotate(): void {
    const path = this.#path
    const [opened, current] = [fstatSync(this.#fd), lstatSync(path)]
    if (opened.ino !== current.ino || opened.dev !== current.dev) {
      this.#broken = 'another process has moved the audit file'
      throw new Error(this.#broken)
    }
    if (this.#fsync !== 'never') fsyncSync(this.#fd)
    const aside = nextRotated(path)
    renameSync(path, aside)
    let next: number
    try {
      next = openSync(path, FLAGS | constants.O_EXCL, 0o600)
    } catch (error) {
      renameSync(aside, path)
      throw error
    }
    closeSync(this.#fd)
    this.#fd = next
    this.#size = 0
    if (this.#fsync !== 'never') syncDirectory(dirname(path))
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    try {
      if (this.#fsync !== 'never') fsyncSync(this.#fd)
    } finally {
      closeSync(this.#fd)
      this.#lock.release()
    }
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

/** Returns the real path of a file, which need not exist. */
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

function lockOf(path: string): FileLock {
  const lock = attempt('lock', () => takeFileLock(`${path}.lock`))
  if (lock === undefined)
    throw new TypeError(
      'Cannot open the audit file: another process or sink writes to it; if none does, delete its .lock file',
    )
  return lock
}

const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDWR } = constants
const FLAGS = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK

function open(path: string, tornTail: 'cut' | 'refuse'): Opened {
  const fd = attempt('open', () => openSync(path, FLAGS, 0o600))
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw new TypeError('Cannot open the audit file: it is not a regular file')
    const { end, line } = lastLine(fd, stat.size)
    if (end < stat.size) cutTail(fd, path, end, stat.size, tornTail)
    return { fd, size: end, head: line === undefined ? headBefore(path) : headOf(line) }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Returns the end of the chain in the rotated files. */
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
    throw new TypeError('Cannot continue the audit file: its last line is not an audit record, or was changed')
  }
  return { sequence: record.sequence, hash: record.hash }
}

/** Makes a new name survive a power failure, on platforms that support it. */
function syncDirectory(directory: string): void {
  let fd: number
  try {
    fd = openSync(directory, constants.O_RDONLY)
  } catch {
    /* v8 ignore next -- @preserve: some platforms cannot open directories */
    return
  }
  try {
    fsyncSync(fd)
  } catch {
    // Some platforms cannot sync directories.
  } finally {
    closeSync(fd)
  }
}

function attempt<T>(action: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new TypeError(`Cannot ${action} the audit file: ${code}`)
  }
}

function cutTail(fd: number, path: string, end: number, size: number, tornTail: 'cut' | 'refuse'): void {
  if (tornTail === 'refuse') {
    throw new TypeError(`Cannot continue the audit file: its last line is incomplete, at byte ${end}`)
  }
  appendFileSync(`${path}.torn`, Buffer.concat([readAt(fd, end, size - end), Buffer.from('\n')]), { mode: 0o600 })
  ftruncateSync(fd, end)
}
