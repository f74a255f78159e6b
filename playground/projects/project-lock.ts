/** The lock of one project. The tab that holds it writes; other tabs read, and learn when it is released. */
export interface ProjectLock {
  /** Changes when another tab takes over. */
  readonly writable: boolean
  release(): Promise<void>
}

export interface ProjectLockEvents {
  /** Called when another tab takes the project over. That tab may write once the returned promise settles. */
  onLost(): Promise<void>
  /** Called when no tab holds the project any more. */
  onFree(): void
}

/** The name of a project's lock, and of the channel between its tabs. */
export function lockName(id: string): string {
  return `wardspace-playground ${id}`
}

/**
 * Tries to take the lock of a project. If another tab holds it, this tab only reads, unless `takeOver` is set: then the
 * other tab is asked to save its state and release the lock. A tab that does not answer loses the lock.
 */
export async function acquireProjectLock(
  id: string,
  { takeOver = false }: { readonly takeOver?: boolean | undefined },
  events: ProjectLockEvents,
): Promise<ProjectLock> {
  const lock = new TabLock(id, events)
  await (takeOver ? lock.takeOver() : lock.acquire())
  return lock
}

/** Messages between the tabs of one project. */
type Message = 'query' | 'held' | 'release' | 'releasing' | 'taken'

/** How long a tab may take to answer before it counts as frozen. */
const ANSWER_MS = 3_000
/** How long a tab that answered may take to save its state. */
const SAVING_MS = 30_000
/** How long the page that this tab showed before a reload may hold its lock. */
const RELOADED_MS = 10_000

/** Session storage key of the project that this tab writes. After a reload, the tab waits for its own previous page. */
const WRITES = 'wardspace-playground writes'

/** The part of this tab in the lock of a project. */
class TabLock implements ProjectLock {
  readonly #id: string
  readonly #name: string
  readonly #events: ProjectLockEvents
  readonly #channel: BroadcastChannel
  readonly #closing = new AbortController()
  /** Ends the request for the lock when its time limit is over. */
  readonly #limit = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The message that the request for the lock waits for. */
  #expected: Message | undefined
  #isHeld = false
  #isWatching = false
  #unlock: (() => void) | undefined

  constructor(id: string, events: ProjectLockEvents) {
    this.#id = id
    this.#name = lockName(id)
    this.#events = events
    this.#channel = new BroadcastChannel(this.#name)
    this.#channel.onmessage = ({ data }: { readonly data: Message }) => this.#receive(data)
  }

  get writable(): boolean {
    return this.#isHeld
  }

  /** Takes the lock if no other tab answers that it holds it. */
  async acquire(): Promise<void> {
    this.#unlock = await this.#request({ ifAvailable: true })
    if (this.#unlock === undefined) {
      // A page that is being left, for example by a reload, holds its locks for a moment and does not answer.
      this.#expect('held', sessionStorage.getItem(WRITES) === this.#id ? RELOADED_MS : ANSWER_MS)
      this.#send('query')
      this.#unlock = await this.#request({ signal: this.#limit.signal })
      this.#expectNothing()
    }
    this.#start()
  }

  /** Asks the tab that holds the lock to release it, and steals the lock after the time limit. */
  async takeOver(): Promise<void> {
    this.#expect('releasing', ANSWER_MS)
    this.#send('release')
    this.#unlock = (await this.#request({ signal: this.#limit.signal })) ?? (await this.#request({ steal: true }))
    this.#expectNothing()
    // Sent last: while the lock is free for a moment, the other tabs must not take it for released.
    this.#send('taken')
    this.#start()
  }

  async release(): Promise<void> {
    this.#closing.abort()
    this.#channel.close()
    if (this.#isHeld) sessionStorage.removeItem(WRITES)
    this.#isHeld = false
    this.#unlock?.()
  }

  #start(): void {
    this.#isHeld = this.#unlock !== undefined
    if (this.#isHeld) sessionStorage.setItem(WRITES, this.#id)
    else this.#watch()
  }

  #receive(message: Message): void {
    if (message === 'query') {
      if (this.#isHeld) this.#send('held')
    } else if (message === 'held') {
      if (this.#expected === 'held') this.#limit.abort()
    } else if (message === 'release') void this.#lose()
    else if (message === 'releasing') {
      if (this.#expected === 'releasing') this.#expect('releasing', SAVING_MS)
    } else if (!this.#isHeld) this.#watch()
  }

  #send(message: Message): void {
    this.#channel.postMessage(message)
  }

  #expect(message: Message, ms: number): void {
    clearTimeout(this.#timer)
    this.#expected = message
    this.#timer = setTimeout(() => this.#limit.abort(), ms)
  }

  #expectNothing(): void {
    clearTimeout(this.#timer)
    this.#expected = undefined
  }

  async #lose(): Promise<void> {
    if (!this.#isHeld) return
    this.#isHeld = false
    sessionStorage.removeItem(WRITES)
    this.#send('releasing')
    await this.#events.onLost()
    this.#unlock?.()
  }

  /** Handles a lock that was stolen by a tab that got no answer from this one. */
  async #handleTheft(): Promise<void> {
    await this.#lose()
    this.#watch()
  }

  /** Waits, together with other reading tabs, until no tab writes. */
  #watch(): void {
    if (this.#isWatching || this.#closing.signal.aborted) return
    this.#isWatching = true
    const notify = (): void => {
      this.#isWatching = false
      this.#events.onFree()
    }
    navigator.locks.request(this.#name, { mode: 'shared', signal: this.#closing.signal }, notify).catch(() => {})
  }

  /** Returns a function that releases the lock, or `undefined` if the lock is not available. */
  #request(options: LockOptions): Promise<(() => void) | undefined> {
    return new Promise((resolve, reject) => {
      let isGranted = false
      navigator.locks
        .request(this.#name, options, (lock) => {
          if (lock === null) return resolve(undefined)
          isGranted = true
          return new Promise<void>((unlock) => resolve(() => unlock()))
        })
        .catch((error) => {
          if (isGranted) void this.#handleTheft()
          else if (error.name === 'AbortError') resolve(undefined)
          else reject(error)
        })
    })
  }
}
