import type { Slots } from './slots.ts'

/**
 * Who may use a storage: one at a time, for as long as nobody else asks. A tab that is alone asks once and keeps it; where
 * two take turns, it passes between them. What a holder remembers of the storage is true while it holds.
 */
export interface Lease<S = Slots> {
  /**
   * Waits until the storage is ours. Before it goes to another, `giveUp` is called once and waited for. Ask again only
   * after that.
   */
  acquire(giveUp: () => Promise<void>): Promise<S>
  /** Lets go of it for good. */
  close(): Promise<void>
}

/** The name of the failure of a step after the lease was lost. */
export const LEASE_LOST = 'LeaseLostError'

export function isLeaseLost(error: unknown): boolean {
  return (error as { readonly name?: unknown } | null)?.name === LEASE_LOST
}
