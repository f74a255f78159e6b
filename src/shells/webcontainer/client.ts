import type { WebContainer } from '@webcontainer/api'
import { ToolError } from '../../errors.ts'
import { optionalPackage, rethrow } from '../../util/optional-package.ts'
import { runAfter } from '../../util/timers.ts'
import { messageOf } from './container-call.ts'

export type { WebContainer } from '@webcontainer/api'

/** Options for booting a container. */
export interface BootOptions {
  readonly timeoutMs: number
  readonly apiKey?: string | undefined
  readonly auth?: AuthOptions | undefined
  readonly coep?: 'require-corp' | 'credentialless' | 'none' | undefined
  readonly workdirName: string
  readonly forwardPreviewErrors?: boolean | 'exceptions-only' | undefined
  /** Stops waiting for the boot. */
  readonly signal: AbortSignal
}

/** Sign-in at the vendor. */
export interface AuthOptions {
  readonly clientId: string
  readonly scope: string
  /** Origin that serves the runtime. Default: the vendor's. */
  readonly editorOrigin?: string
}

/** The container of this page, reserved for one shell. */
export interface AcquiredContainer {
  readonly container: WebContainer
  /** Ends everything in the container, so that a new one can be booted. */
  release(): void
}

/** State of the page, which has only one container. `pending` is a boot that no shell has waited for to the end. */
let isReserved = false
let pending: Promise<WebContainer> | undefined
let usedKey: string | undefined
let usedAuth: string | undefined

/**
 * Boots the container of this page.
 *
 * The client's promise never settles if its frame cannot be loaded, and every later boot waits for it. So a pending boot
 * is kept, and later calls wait for the same one, each with its own timeout.
 *
 * @throws ToolError `SHELL_UNAVAILABLE` with the reason
 */
export async function acquireContainer(options: BootOptions): Promise<AcquiredContainer> {
  requirePage(options)
  if (isReserved) throw unavailable('another shell of this page has its container, and a page has only one')
  isReserved = true
  try {
    const client = await loadClient()
    pending ??= boot(client, options)
    const container = await withinTimeout(pending, options)
    pending = undefined
    return {
      container,
      release() {
        container.teardown()
        isReserved = false
      },
    }
  } catch (error) {
    isReserved = false
    throw error instanceof ToolError ? error : unavailable(`it did not boot: ${shortMessage(error)}`)
  }
}

type Client = typeof import('@webcontainer/api')

function loadClient(): Promise<Client> {
  return optionalPackage('@webcontainer/api', 'webcontainer()', async () => {
    try {
      return await import('@webcontainer/api')
    } catch (error) {
      return rethrow(error)
    }
  })
}

function requirePage({ coep }: BootOptions): void {
  if (typeof document === 'undefined') throw unavailable('a container runs only in the page of a browser')
  if (globalThis.crossOriginIsolated !== true && coep !== 'none') {
    throw unavailable(
      'this page is not cross-origin isolated; it has to be served with Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp (or credentialless)',
    )
  }
}

function boot(client: Client, options: BootOptions): Promise<WebContainer> {
  const { apiKey, auth, coep, workdirName, forwardPreviewErrors } = options
  // Each of these can be set only once in a page, before the first boot.
  if (apiKey !== undefined && apiKey !== usedKey) client.configureAPIKey(apiKey)
  usedKey = apiKey ?? usedKey
  const requestedAuth = auth === undefined ? usedAuth : JSON.stringify(auth)
  if (auth !== undefined && requestedAuth !== usedAuth) {
    const result = client.auth.init(auth)
    if (result.status === 'auth-failed') throw unavailable(`its vendor refused the sign-in: ${result.error}`)
  }
  usedAuth = requestedAuth
  const booting = client.WebContainer.boot({
    workdirName,
    ...(coep === undefined ? {} : { coep }),
    ...(forwardPreviewErrors === undefined ? {} : { forwardPreviewErrors }),
  })
  booting.catch(() => {
    pending = undefined
  })
  return booting
}

function withinTimeout<T>(promise: Promise<T>, { timeoutMs, signal }: BootOptions): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new ToolError('ABORTED', 'The shell was closed'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    const expire = () => reject(unavailable(`it did not boot within ${timeoutMs} ms; its frame may not be reachable`))
    const timer = runAfter(timeoutMs, expire)
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    })
  })
}

function unavailable(reason: string): ToolError {
  return new ToolError('SHELL_UNAVAILABLE', `There is no WebContainer: ${reason}`)
}

function shortMessage(error: unknown): string {
  return messageOf(error)?.replace(/\s+/g, ' ').slice(0, 200) ?? 'for no known reason'
}
