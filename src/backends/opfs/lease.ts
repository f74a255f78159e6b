import type { Slots } from './slots.ts'

/**
 * Exclusive use of a storage until another tab asks for it. A tab that is alone acquires it once; two that take turns pass
 * it between them. What a holder has cached of the storage is valid while it holds the lease.
 */
export interface Lease<S = Slots> {
  /**
   * Waits for the lease. Before it passes to another tab, `giveUp` is called once and awaited. Acquire again only after
   * that.
   */
  acquire(giveUp: () => Promise<void>): Promise<S>
  /** Releases it for good. */
  close(): Promise<void>
}

/** The error name of a step that ran after the lease was lost. */
export const LEASE_LOST = 'LeaseLostError'

export function isLeaseLost(error: unknown): boolean {
  return (error as { readonly name?: unknown } | null)?.name === LEASE_LOST
}
