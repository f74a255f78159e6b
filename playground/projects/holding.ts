/** Which tab writes a project: the one that holds its lock. Others read, and are told when it lets go. */
export interface Holding {
  /** Changes when another tab takes over. */
  readonly writable: boolean
  release(): Promise<void>
}

/** How long a tab that was asked to let go has, before it is taken to be frozen. */
const PATIENCE_MS = 3_000

/**
 * Tries to be the one that writes. Where another tab is, this one reads, unless `takeOver`: then the other is asked to
 * save what it has and to let go; the lock is taken from one that does not answer.
 *
 * @param on `letGo`: this tab lost the project; what it promises is awaited before the other one may write. `free`: the
 *   tab that wrote is gone
 */
export async function hold(
  id: string,
  { takeOver = false }: { readonly takeOver?: boolean | undefined },
  on: { letGo(): Promise<void>; free(): void },
): Promise<Holding> {
  const name = `wardspace-playground ${id}`
  const channel = new BroadcastChannel(name)
  if (takeOver) channel.postMessage('let go')
  const lock =
    (await take(name, takeOver ? { signal: AbortSignal.timeout(PATIENCE_MS) } : { ifAvailable: true }, lost)) ??
    (takeOver ? await take(name, { steal: true }, lost) : undefined)
  const stop = new AbortController()
  let isHeld = lock !== undefined

  async function lost(): Promise<void> {
    if (!isHeld) return
    isHeld = false
    await on.letGo()
    lock?.()
    watch()
  }

  /** Waits until nobody writes, beside all others that wait for it. */
  function watch(): void {
    const { signal } = stop
    navigator.locks.request(name, { mode: 'shared', signal }, () => on.free()).catch(() => {})
  }

  channel.onmessage = ({ data }) => {
    if (data === 'let go') void lost()
  }
  if (!isHeld) watch()
  return {
    get writable() {
      return isHeld
    },
    async release() {
      stop.abort()
      channel.close()
      isHeld = false
      lock?.()
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
        else if (error.name === 'AbortError' || error.name === 'TimeoutError') resolve(undefined)
        else reject(error)
      })
  })
}
