import { ToolError } from '../../errors.ts'
import { display, type Path, quote, ROOT } from '../../paths/logical-path.ts'
import type { Folder } from './folder.ts'
import type { Lease } from './lease.ts'
import { Staging } from './staging.ts'
import { storageFailure } from './storage-failure.ts'

/** The lease of a workspace of files. Completes the commit of a killed tab whenever the lease is acquired. */
export class StagingLease {
  private readonly lease: Lease<FileSystemDirectoryHandle>
  private readonly folder: Folder
  private readonly canMove: boolean
  /** Defined while the lease is held. */
  private staging: Staging | undefined
  private refreshing: Promise<Staging> | undefined
  /** Actions that run under the lease. */
  private running = 0
  private whenIdle: (() => void) | undefined
  private isClosed = false

  constructor(lease: Lease<FileSystemDirectoryHandle>, folder: Folder, canMove: boolean) {
    this.lease = lease
    this.folder = folder
    this.canMove = canMove
  }

  /** Runs an action under the lease. Throws failures of the storage as `Cannot VERB PATH: …`. */
  async run<T>(verb: string, path: Path, action: (staging: Staging) => Promise<T>): Promise<T> {
    try {
      let staging = await this.acquire()
      // The lease may be lost before this function continues.
      while (this.staging !== staging) staging = await this.acquire()
      this.running += 1
      try {
        return await action(staging)
      } finally {
        this.running -= 1
        if (this.running === 0) this.whenIdle?.()
      }
    } catch (error) {
      throw storageFailure(`Cannot ${verb} ${quote(display(path))}`, error, path === ROOT ? undefined : path)
    }
  }

  /** Makes the next action recover from the journal first. */
  invalidate(): void {
    this.staging = undefined
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.lease.close()
  }

  private async acquire(): Promise<Staging> {
    if (this.isClosed) throw new ToolError('BACKEND_ERROR', 'Cannot continue: the backend is closed')
    if (this.staging !== undefined) return this.staging
    this.refreshing ??= this.refresh().finally(() => {
      this.refreshing = undefined
    })
    return this.refreshing
  }

  private async refresh(): Promise<Staging> {
    const state = await this.lease.acquire(() => this.giveUp())
    this.folder.forget(ROOT)
    const staging = new Staging(state, this.folder, this.canMove)
    for (const step of await staging.pending()) await staging.apply(step)
    await staging.clear()
    this.staging = staging
    return staging
  }

  private async giveUp(): Promise<void> {
    // The lease may be wanted before it is completely acquired.
    await this.refreshing?.catch(() => {})
    this.staging = undefined
    if (this.running > 0) await new Promise<void>((resolve) => (this.whenIdle = resolve))
  }
}
