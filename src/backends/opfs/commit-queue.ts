import type { Change, CommitOptions, Receipt } from '../../storage/backend.ts'
import { yieldToEventLoop } from '../../util/timers.ts'
import type { CommitJob, PackedStore } from './packed-store.ts'

/**
 * Writing through synchronous handles never leaves the task. Without a pause, commits in a loop would keep the thread from
 * receiving the message that another tab wants the lease, or that the worker is to end.
 */
const PAUSE_AFTER_MS = 50

/** The commits of a packed workspace. Those that wait at the same time are written together. */
export class CommitQueue {
  private readonly store: PackedStore
  private readonly waiting: CommitJob[] = []
  private draining: Promise<void> | undefined
  private pausedAt = performance.now()

  constructor(store: PackedStore) {
    this.store = store
  }

  commit(changes: readonly Change[], options: CommitOptions): Promise<Receipt> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ changes, options, resolve, reject })
      this.draining ??= this.drain()
    })
  }

  /** Resolves when no commit waits. */
  async idle(): Promise<void> {
    await this.draining
  }

  private async drain(): Promise<void> {
    const { store, waiting } = this
    // Lets the caller receive its promise first.
    await undefined
    while (waiting.length > 0) {
      try {
        await store.current()
      } catch (error) {
        for (const job of waiting.splice(0)) job.reject(error)
        break
      }
      if (!store.isReady) continue
      const now = performance.now()
      if (now - this.pausedAt > PAUSE_AFTER_MS) {
        this.pausedAt = now
        await yieldToEventLoop()
        continue
      }
      const alone = waiting.findIndex((job) => job.alone)
      const jobs = waiting.splice(0, alone === -1 ? waiting.length : Math.max(1, alone))
      waiting.unshift(...(await store.write(jobs)))
    }
    // Synchronously, not when the promise settles: a commit in between would wait forever.
    this.draining = undefined
  }
}
