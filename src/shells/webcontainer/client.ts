import type { WebContainer } from '@webcontainer/api'
import { ToolError } from '../../errors.ts'
import { optionalPackage } from '../../util/optional-package.ts'
import { messageOf } from './container-call.ts'

export type { WebContainer } from '@webcontainer/api'

/** How a container is booted. */
export interface BootOptions {
  readonly timeoutMs: number
  readonly apiKey?: string | undefined
  readonly auth?: AuthOptions | undefined
  readonly coep?: 'require-corp' | 'credentialless' | 'none' | undefined
  readonly workdirName: string
  readonly forwardPreviewErrors?: boolean | 'exceptions-only' | undefined
  /** Ends the waiting. */
  readonly signal: AbortSignal
}

/** Who signs in at the vendor. */
export interface AuthOptions {
  readonly clientId: string
  readonly scope: string
  /** Whose server gives the runtime. Default: the vendor's. */
  readonly editorOrigin?: string
}

/** The container of this page, in the hands of one shell. */
export interface AcquiredContainer {
  readonly container: WebContainer
  /** Ends everything in it. Another one may be booted then. */
  release(): void
}

/** A page has one container: whoever has it, and what has been started and was not waited for to the end. */
let isHeld = false
let pending: Promise<WebContainer> | undefined
let usedKey: string | undefined
let usedAuth: string | undefined

/**
 * Boots the container of this page.
 *
 * The client's own promise never settles where its frame cannot be loaded, and every later one waits for it: such a boot is
 * kept, and whoever comes later waits for the same one, for as long as he would.
 *
 * @throws ToolError `SHELL_UNAVAILABLE` with the reason
 */
export async function acquireContainer(options: BootOptions): Promise<AcquiredContainer> {
  requirePage(options)
  if (isHeld) throw unavailable('another shell of this page has its container, and a page has only one')
  isHeld = true
  try {
    const client = await loadClient()
    pending ??= begin(client, options)
    const container = await inTime(pending, options)
    pending = undefined
    return {
      container,
      release() {
        container.teardown()
        isHeld = false
      },
    }
  } catch (error) {
    isHeld = false
    throw error instanceof ToolError ? error : unavailable(`it did not boot: ${plain(error)}`)
  }
}

type Client = typeof import('@webcontainer/api')

function loadClient(): Promise<Client> {
  return optionalPackage('@webcontainer/api', 'webcontainer()', () => import('@webcontainer/api'))
}

function requirePage({ coep }: BootOptions): void {
  if (typeof document === 'undefined') throw unavailable('a container runs only in the page of a browser')
  if (globalThis.crossOriginIsolated !== true && coep !== 'none') {
    throw unavailable(
      'this page is not cross-origin isolated; it has to be served with Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp (or credentialless)',
    )
  }
}

function begin(client: Client, options: BootOptions): Promise<WebContainer> {
  const { apiKey, auth, coep, workdirName, forwardPreviewErrors } = options
  // Both may be said once in the life of a page, before anything is booted.
  if (apiKey !== undefined && apiKey !== usedKey) client.configureAPIKey(apiKey)
  usedKey = apiKey ?? usedKey
  const asked = auth === undefined ? usedAuth : JSON.stringify(auth)
  if (auth !== undefined && asked !== usedAuth) {
    const told = client.auth.init(auth)
    if (told.status === 'auth-failed') throw unavailable(`its vendor refused the sign-in: ${told.error}`)
  }
  usedAuth = asked
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

function inTime<T>(promise: Promise<T>, { timeoutMs, signal }: BootOptions): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new ToolError('ABORTED', 'The shell was closed'))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    const late = () => reject(unavailable(`it did not boot within ${timeoutMs} ms; its frame may not be reachable`))
    const timer = setTimeout(late, timeoutMs)
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    })
  })
}

function unavailable(why: string): ToolError {
  return new ToolError('SHELL_UNAVAILABLE', `There is no WebContainer: ${why}`)
}

function plain(error: unknown): string {
  return messageOf(error)?.replace(/\s+/g, ' ').slice(0, 200) ?? 'for no known reason'
}
