import { ToolError } from '../../errors.ts'
import type { SerialQueue } from '../../util/serial-queue.ts'
import type { Shell } from '../types.ts'
import { type BackgroundLines, createBackgroundLines } from './background-lines.ts'
import { acquireContainer, type BootOptions } from './client.ts'
import { containerCall } from './container-call.ts'
import { type ContainerSession, openContainerSession, type SessionOptions } from './container-session.ts'
import type { FallbackState } from './fallback.ts'
import type { Ports } from './ports.ts'

export interface HostOptions {
  readonly boot: Omit<BootOptions, 'signal'>
  readonly session: SessionOptions
  readonly previewScript: string | undefined
  /** Called when there is no container. `false`: nothing runs the commands. */
  readonly createFallback: () => Shell | false
  readonly ports: Ports
  readonly queue: SerialQueue
}

/** A booted container and the lines in it. */
export interface BootedContainer {
  readonly session: ContainerSession
  readonly background: BackgroundLines
}

/** Boots the container on first use, and replaces one that failed. */
export class ContainerHost {
  readonly #options: HostOptions
  readonly #closing = new AbortController()
  #runtime: Promise<BootedContainer | FallbackState> | undefined
  #booted: BootedContainer | undefined
  #fallback: FallbackState | undefined

  constructor(options: HostOptions) {
    this.#options = options
  }

  /** The running container. */
  get booted(): BootedContainer | undefined {
    return this.#booted
  }

  /** Set once a boot has failed. */
  get fallback(): FallbackState | undefined {
    return this.#fallback
  }

  get isClosing(): boolean {
    return this.#closing.signal.aborted
  }

  /** Returns the container, or the fallback with the reason. @throws ToolError `SHELL_UNAVAILABLE` after {@link stop} */
  open(): Promise<BootedContainer | FallbackState> {
    if (this.isClosing) throw new ToolError('SHELL_UNAVAILABLE', 'The shell is closed')
    // The content of a container whose operation failed is unknown.
    if (this.#booted?.session.mirror.isLost()) this.abandon(this.#booted)
    this.#runtime ??= this.#bootOrFallBack()
    return this.#runtime
  }

  /** Ends a container that no longer responds as expected. The next command boots a new one. */
  abandon({ session, background }: BootedContainer): void {
    /* v8 ignore if -- @preserve: a defence in depth: only the line that runs abandons its container */
    if (this.#booted?.session !== session) return
    this.#booted = undefined
    this.#runtime = undefined
    this.#options.ports.clear()
    void background.close()
    session.release()
  }

  /** Ends a boot in progress; no container is opened from now on. */
  stop(): void {
    this.#closing.abort()
  }

  /** Ends the container. Call it after all commands have ended. */
  async release(): Promise<void> {
    await this.#runtime?.catch(() => {})
    if (this.#booted !== undefined) this.abandon(this.#booted)
  }

  async #bootOrFallBack(): Promise<BootedContainer | FallbackState> {
    try {
      this.#booted = await this.#boot()
      return this.#booted
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== 'SHELL_UNAVAILABLE') throw error
      const shell = this.#options.createFallback()
      this.#fallback = { reason: error.message, hint: error.details.hint, ...(shell === false ? {} : { shell }) }
      return this.#fallback
    }
  }

  async #boot(): Promise<BootedContainer> {
    const { boot, session: sessionOptions, previewScript, ports, queue } = this.#options
    const acquired = await acquireContainer({ ...boot, signal: this.#closing.signal })
    try {
      const session = await openContainerSession(acquired, sessionOptions)
      const background = createBackgroundLines(session, queue)
      ports.listen(session.container, (text) => background.notify(text))
      if (previewScript !== undefined) {
        await containerCall('take the script of previews', session.container.setPreviewScript(previewScript))
      }
      return { session, background }
    } catch (error) {
      acquired.release()
      throw error
    }
  }
}
