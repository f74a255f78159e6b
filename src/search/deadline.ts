/** Returns whether the time is up. */
export type Deadline = () => boolean

/** Thrown through the search loops when the deadline has passed. `query.ts` catches it; callers never see it. */
export const deadlineReached = Symbol('deadline reached')

/** Bytes between two checks of the deadline. */
export const DEADLINE_INTERVAL = 1 << 16

export function throwIfPast(deadline: Deadline | undefined): void {
  if (deadline?.()) throw deadlineReached
}
