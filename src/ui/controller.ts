/**
 * State without a view. Every view framework can show it: `subscribe` and `snapshot` fit React's `useSyncExternalStore`, and a
 * controller is a Svelte store.
 *
 * @example
 * const timeline = createTimeline()
 * const stop = timeline.subscribe(({ entries }) => console.log(entries.length))
 * stop()
 */
export interface Controller<Snapshot> {
  /** The present state. The same object until something changes. */
  readonly snapshot: Snapshot
  /** Calls the listener at once and after each change. Returns a function that unsubscribes. Needs no `this`. */
  subscribe(listener: (snapshot: Snapshot) => void): () => void
}

/** The state of a controller, which only the controller changes. */
export class ControllerState<Snapshot extends object> implements Controller<Snapshot> {
  #snapshot: Snapshot
  readonly #listeners = new Set<{ readonly notify: (snapshot: Snapshot) => void }>()

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot
  }

  get snapshot(): Snapshot {
    return this.#snapshot
  }

  readonly subscribe = (notify: (snapshot: Snapshot) => void): (() => void) => {
    const listener = { notify }
    this.#listeners.add(listener)
    notify(this.#snapshot)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Changes fields and notifies the listeners, unless every field already has its value. */
  update(change: Partial<Snapshot>): void {
    const fields = Object.keys(change) as (keyof Snapshot)[]
    if (fields.every((field) => Object.is(change[field], this.#snapshot[field]))) return
    this.#snapshot = { ...this.#snapshot, ...change }
    // A listener may change the state: the later ones receive the latest.
    for (const listener of [...this.#listeners]) {
      if (this.#listeners.has(listener)) listener.notify(this.#snapshot)
    }
  }
}
