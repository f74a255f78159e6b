import * as fs from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Path } from '../../paths/logical-path.ts'
import type { Stat } from '../../storage/backend.ts'
import {
  type BatchJob,
  type BatchMemory,
  type BatchSizes,
  batchMemory,
  batchReader,
  fileReader,
} from './read-batches.ts'
import { entryStat } from './stat.ts'
import type { TreeAccess } from './tree-access.ts'

/** Scans of fewer files take less time than a message to the thread. */
const MIN_FILES = 1024

const SIZES: BatchSizes = { files: 64, slots: 4, slotBytes: 1024 * 1024 }

/** Milliseconds after which the program reads for itself what the thread has begun to read. */
const PATIENCE_MS = 2000

/** Milliseconds after the last scan before the thread ends. */
const IDLE_MS = 10_000

export interface ReadFile {
  readonly bytes: Uint8Array
  readonly stat: Stat
}

/**
 * The files of a scan, read by two threads: each takes the next batch that nobody has taken, so that nothing is lost where a
 * second processor is busy. The program visits the files in their order.
 */
export class ReadAhead {
  readonly #memory: BatchMemory
  readonly #readNext: (waits: boolean) => boolean
  readonly #modes: boolean
  #batch = -1
  #isRead = false
  #isOver = false

  private constructor(job: BatchJob, modes: boolean) {
    this.#memory = job.memory
    this.#readNext = batchReader(fileReader(fs, job), job)
    this.#modes = modes
  }

  /** Begins to read, or returns `undefined` where a thread is of no use. The caller ends it. */
  static start(access: TreeAccess, paths: readonly Path[], modes: boolean): ReadAhead | undefined {
    if (paths.length < MIN_FILES || access.shared === undefined) return undefined
    const thread = borrowThread()
    if (thread === undefined) return undefined
    const memory = batchMemory(paths.length, SIZES)
    const job: BatchJob = { ...access.shared, paths: paths.join('\0'), sizes: SIZES, memory }
    thread.postMessage(job)
    return new ReadAhead(job, modes)
  }

  /** Returns the file with this index, or `undefined` if the caller has to read it. Indexes rise. The bytes are valid until the next call. */
  file(index: number): ReadFile | undefined {
    const batch = Math.floor(index / SIZES.files)
    if (batch !== this.#batch) this.#next(batch)
    if (!this.#isRead) return undefined
    const { numbers, bytes } = this.#memory
    const row = ((batch % SIZES.slots) * SIZES.files + (index % SIZES.files)) * 7
    const column = (index: number) => numbers[row + index] as number
    const [length, at] = [column(0), column(1)]
    if (length === -1) return undefined
    const stats = { size: column(2), mtimeMs: column(3), ino: column(4), ctimeMs: column(5), mode: column(6) }
    return { bytes: bytes.subarray(at, at + length), stat: entryStat('file', stats, this.#modes) }
  }

  /** No file is read any more. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { control } = this.#memory
    Atomics.store(control, 2, 1)
    // Wakes a thread that waits for a slot.
    Atomics.add(control, 1, 1)
    Atomics.notify(control, 1)
    returnThread()
  }

  #next(batch: number): void {
    this.#batch = batch
    this.#isRead = false
    if (this.#isOver) return
    const { control, isRead } = this.#memory
    Atomics.store(control, 1, batch)
    Atomics.notify(control, 1)
    while (Atomics.load(isRead, batch) === 0) {
      if (this.#readNext(false)) continue
      if (Atomics.wait(isRead, batch, 0, PATIENCE_MS) === 'timed-out') {
        this.end()
        return
      }
    }
    this.#isRead = true
  }
}

let thread: Worker | undefined
/** Scans that use the thread. */
let scans = 0
let idle: NodeJS.Timeout | undefined
let isRefused = availableParallelism() === 1

/** Returns the thread of this process that reads. It starts with the first scan. */
function borrowThread(): Worker | undefined {
  if (isRefused) return undefined
  try {
    thread ??= startThread()
  } catch {
    // Some processes may have no threads.
    isRefused = true
    return undefined
  }
  clearTimeout(idle)
  scans += 1
  return thread
}

function returnThread(): void {
  scans -= 1
  if (scans > 0) return
  idle = setTimeout(() => {
    void thread?.terminate()
    thread = undefined
  }, IDLE_MS)
  idle.unref()
}

function startThread(): Worker {
  const source = `const fs = require('node:fs'), filesOf = ${fileReader}, readerOf = ${batchReader}
require('node:worker_threads').parentPort.on('message', (job) => {
  const readNext = readerOf(filesOf(fs, job), job)
  while (readNext(true));
})`
  const started = new Worker(source, { eval: true, env: {}, execArgv: [] })
  started.unref()
  started.on('error', () => {
    isRefused = true
  })
  return started
}
