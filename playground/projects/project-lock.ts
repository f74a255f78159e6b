/** Which tab writes a project: the one that holds its lock. Others read, and are told when it lets go. */
export interface ProjectLock {
  /** Changes when another tab takes over. */
  readonly writable: boolean
  release(): Promise<void>
}

/** The lock of who writes a project, and the channel of its tabs. */
export function lockName(id: string): string {
  return `wardspace-playground ${id}`
}

/** What the tabs of one project say to each other. */
type Said = 'who has it' | 'I have it' | 'let go' | 'letting go' | 'taken'

/** How long a tab that was asked has to answer, before it is taken to be frozen. */
const ANSWER_MS = 3_000
/** How long one that answered has to save what it has. */
const SAVING_MS = 30_000
/** How long this tab's own page from before a reload may take to be gone. */
const RELOADED_MS = 10_000

/** In the storage of this tab alone: the project that it writes, so that after a reload it waits for itself. */
const WRITES = 'wardspace-playground writes'

/**
 * Tries to be the one that writes. Where another tab is, this one reads, unless `takeOver`: then the other is asked to
 * save what it has and to let go; the lock is taken from one that does not answer.
 *
 * @param on `letGo`: this tab lost the project; what it promises is awaited before the other one may write. `free`: the
 *   tab that wrote is gone
 */
export async function acquireProjectLock(
  id: string,
  { takeOver = false }: { readonly takeOver?: boolean | undefined },
  on: { letGo(): Promise<void>; free(): void },
): Promise<ProjectLock> {
  const name = lockName(id)
  const channel = new BroadcastChannel(name)
  const say = (what: Said): void => channel.postMessage(what)
  const closing = new AbortController()
  const patience = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const waitFor = (ms: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => patience.abort(), ms)
  }
  let isHeld = false
  let isAsking = false
  let isWatching = false
  let free: (() => void) | undefined

  channel.onmessage = ({ data }: { readonly data: Said }) => {
    if (data === 'who has it') {
      if (isHeld) say('I have it')
    } else if (data === 'I have it') {
      if (isAsking) patience.abort()
    } else if (data === 'let go') void lose()
    else if (data === 'letting go') {
      if (timer !== undefined && !isAsking) waitFor(SAVING_MS)
    } else if (!isHeld) watch()
  }

  async function lose(): Promise<void> {
    if (!isHeld) return
    isHeld = false
    sessionStorage.removeItem(WRITES)
    say('letting go')
    await on.letGo()
    free?.()
  }

  /** Taken by one that thought that this tab sleeps. */
  async function lost(): Promise<void> {
    if (isHeld) await lose()
    watch()
  }

  /** Waits until nobody writes, beside all others that wait for it. */
  function watch(): void {
    if (isWatching || closing.signal.aborted) return
    isWatching = true
    const told = (): void => {
      isWatching = false
      on.free()
    }
    navigator.locks.request(name, { mode: 'shared', signal: closing.signal }, told).catch(() => {})
  }

  if (takeOver) {
    waitFor(ANSWER_MS)
    say('let go')
    free = (await take(name, { signal: patience.signal }, lost)) ?? (await take(name, { steal: true }, lost))
    clearTimeout(timer)
    timer = undefined
    // Only now do others wait for this one: before, the lock may have been nobody's for a moment.
    say('taken')
  } else {
    free = await take(name, { ifAvailable: true }, lost)
    if (free === undefined) {
      // A page that is being left, as by a reload, holds its locks for a moment more, and answers no more.
      isAsking = true
      waitFor(sessionStorage.getItem(WRITES) === id ? RELOADED_MS : ANSWER_MS)
      say('who has it')
      free = await take(name, { signal: patience.signal }, lost)
      clearTimeout(timer)
      timer = undefined
      isAsking = false
    }
  }
  isHeld = free !== undefined
  if (isHeld) sessionStorage.setItem(WRITES, id)
  if (!isHeld) watch()
  return {
    get writable() {
      return isHeld
    },
    async release() {
      closing.abort()
      channel.close()
      if (isHeld) sessionStorage.removeItem(WRITES)
      isHeld = false
      free?.()
    },
  }
}

/** Gives what frees the lock; `undefined` where it was not to be had. */
function take(name: string, options: LockOptions, stolen: () => Promise<void>): Promise<(() => void) | undefined> {
  return new Promise((resolve, reject) => {
    let isMine = false
    navigator.locks
      .request(name, options, (lock) => {
        if (lock === null) return resolve(undefined)
        isMine = true
        return new Promise<void>((free) => resolve(() => free()))
      })
      .catch((error) => {
        if (isMine) void stolen()
        else if (error.name === 'AbortError') resolve(undefined)
        else reject(error)
      })
  })
}
