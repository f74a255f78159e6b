/** Resident memory above which a process of the shell ends, in bytes. */
const MAX_RESIDENT_BYTES = 416 * 1024 * 1024

/** Milliseconds between two looks while a job runs. */
const INTERVAL_MS = 20

/** Reports whether a job runs. */
export type BusyReporter = (isBusy: boolean) => void

interface WorkerThreads {
  readonly Worker: new (source: string, options: object) => { unref(): void }
}

/**
 * Watches this process from a thread of its own, which goes on whatever the jobs do: ends the process when it takes too much
 * memory, or when the program that started it has ended. The thread sleeps while no job runs.
 */
export function watchProcess(): BusyReporter {
  const { process } = globalThis
  process.on('disconnect', () => process.exit())
  const { Worker } = process.getBuiltinModule('node:worker_threads') as unknown as WorkerThreads
  const busy = new Int32Array(new SharedArrayBuffer(4))
  const watcher = new Worker(`(${watch})(require('node:worker_threads').workerData)`, {
    eval: true,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    workerData: { busy, parent: process.ppid, maxBytes: MAX_RESIDENT_BYTES, intervalMs: INTERVAL_MS },
  })
  watcher.unref()
  return (isBusy) => {
    Atomics.store(busy, 0, isBusy ? 1 : 0)
    if (isBusy) Atomics.notify(busy, 0)
  }
}

/** The source of the watching thread, which uses nothing but globals. */
const watch = `function ({ busy, parent, maxBytes, intervalMs }) {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (;;) {
    Atomics.wait(busy, 0, 0)
    if (process.ppid !== parent || process.memoryUsage.rss() > maxBytes) process.kill(process.pid, 'SIGKILL')
    Atomics.wait(pause, 0, 0, intervalMs)
  }
}`
