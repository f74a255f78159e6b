import {
  checkOptions,
  isFunction,
  isObjectWith,
  isOneOf,
  isPositive,
  isRecordOf,
  isText,
  type OptionTable,
  refuseSurplus,
  shape,
} from '../../util/check-options.ts'
import { createSerialQueue } from '../../util/serial-queue.ts'
import { bash } from '../bash/index.ts'
import { createLineAnalyzer } from '../shared/line-judge.ts'
import { commandStopped, createRunningCommands } from '../shared/running-commands.ts'
import type { Shell } from '../types.ts'
import type { AuthOptions } from './client.ts'
import { ContainerHost } from './container-host.ts'
import type { Terminal } from './container-process.ts'
import { WORKSPACE } from './container-session.ts'
import { runInFallback, startInFallback } from './fallback.ts'
import { createPorts, type OpenPort } from './ports.ts'
import { runLine } from './run-line.ts'

export type { AuthOptions, OpenPort, Terminal }

/** Options of {@link webcontainer}. */
export interface WebContainerOptions {
  /** Shell that runs commands when there is no container. Default: `bash()`. `false`: they fail with `SHELL_UNAVAILABLE`. */
  readonly fallback?: Shell | false
  /** Time for the container to boot, in milliseconds. Default: 30,000. */
  readonly bootTimeoutMs?: number
  /** API key of the vendor, for sites that need one. */
  readonly apiKey?: string
  /** Signs in at the vendor, for private packages. */
  readonly auth?: AuthOptions
  /** Cross-Origin-Embedder-Policy of the page, if it is not `require-corp`. */
  readonly coep?: 'require-corp' | 'credentialless' | 'none'
  /** Name of the container's working directory. Default: `wardspace`. */
  readonly workdirName?: string
  /** Forwards errors of previews to this page. */
  readonly forwardPreviewErrors?: boolean | 'exceptions-only'
  /** Script that every preview loads. */
  readonly previewScript?: string
  /** Variables for the environment of every command. */
  readonly env?: Readonly<Record<string, string>>
  /** Size of the commands' terminal. Default: 120 columns, 40 rows. */
  readonly terminal?: Terminal
  /** Time for a stopped command to end, in milliseconds, before the container is ended. Default: 5,000. */
  readonly graceMs?: number
  /** Maximum size of the files copied into a container, in bytes. Default: 128 MiB. */
  readonly maxBytes?: number
  /** Called for each port on which a server in the container listens, and when it closes. */
  readonly onPort?: (port: OpenPort, type: 'open' | 'ready' | 'close') => void
}

/** Describes what runs the commands. */
export type WebContainerState =
  | {
      readonly runs: 'webcontainer'
      /** The shell reports the directory in which a line ends. If not, each command starts in the directory it names. */
      readonly tellsCwd: boolean
      /** Symbolic links are copied into the container. If not, the links of the workspace stay unchanged. */
      readonly links: boolean
    }
  | { readonly runs: 'fallback'; readonly name: string; readonly reason: string }
  | { readonly runs: 'nothing'; readonly reason: string }

/** A shell whose commands run in a container. */
export interface WebContainerShell extends Shell {
  /** Boots the container if necessary, and returns what runs the commands. Rejects only if the shell is closed. */
  ready(): Promise<WebContainerState>
  /** Returns the ports on which servers listen, with the URLs of their previews. */
  ports(): readonly OpenPort[]
  /** Sets the size of the terminal for running and future commands. */
  resize(terminal: Terminal): void
}

const capabilities = Object.freeze({
  processes: true,
  network: true,
  background: true,
  stderr: false,
  guarded: false,
  confined: true,
  undo: true,
})

const isShell = isObjectWith('a shell or false', 'judge', 'run', 'close')

const optionTable: OptionTable<WebContainerOptions> = {
  fallback: (value, ...at) => (value === false ? value : isShell(value, ...at)),
  bootTimeoutMs: isPositive,
  apiKey: isText,
  auth: shape<AuthOptions>({ clientId: isText, scope: isText, editorOrigin: isText }, 'clientId', 'scope'),
  coep: isOneOf('require-corp', 'credentialless', 'none'),
  workdirName: isText,
  forwardPreviewErrors: isOneOf(true, false, 'exceptions-only'),
  previewScript: isText,
  env: isRecordOf(isText),
  terminal: shape<Terminal>({ cols: isPositive, rows: isPositive }, 'cols', 'rows'),
  graceMs: isPositive,
  maxBytes: isPositive,
  onPort: isFunction,
}

/**
 * Runs commands in real Node in a browser page, through the package `@webcontainer/api`. The runtime belongs to its
 * vendor and is loaded from the vendor's server. The page must be cross-origin isolated. A page has one container, so
 * only one shell can use it at a time.
 *
 * The container receives only files that policy lets a command read. Protected and hidden files are not copied, and
 * recognized secrets are replaced by marks. When a command ends, its changes are applied through the policy gate:
 * guarded, evaluated, recorded and undone like those of any other call. Refused changes are reverted in the container
 * and listed in the result. `node_modules` and `.git` exist only in the container.
 *
 * Without a container, `fallback` runs the commands, and each result gives the reason.
 *
 * @example
 * const shell = webcontainer({ bootTimeoutMs: 20_000 })
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', shell })
 * const state = await shell.ready()
 * if (state.runs === 'fallback') console.log(state.reason)
 * await workspace.close()
 */
export function webcontainer(requested?: WebContainerOptions): WebContainerShell {
  refuseSurplus('webcontainer()', 1, arguments)
  const options = checkOptions<WebContainerOptions>('webcontainer()', requested, optionTable)
  const { workdirName = 'wardspace', graceMs = 5000, maxBytes = 128 * 1024 * 1024 } = options
  const { bootTimeoutMs: timeoutMs = 30_000, apiKey, auth, coep, forwardPreviewErrors, previewScript } = options
  const env = { TERM: 'dumb', NO_COLOR: '1', npm_config_yes: 'true', ...options.env }
  let { terminal = { cols: 120, rows: 40 } } = options
  const queue = createSerialQueue()
  const ports = createPorts(options.onPort)
  const commands = createRunningCommands()
  const host = new ContainerHost({
    boot: { timeoutMs, apiKey, auth, coep, workdirName, forwardPreviewErrors },
    session: { graceMs, maxBytes },
    previewScript,
    createFallback: () => options.fallback ?? bash(),
    ports,
    queue,
  })
  return {
    name: 'webcontainer',
    get capabilities() {
      return host.fallback?.shell?.capabilities ?? capabilities
    },
    judge(line, judgeOptions) {
      if (host.fallback?.shell !== undefined) return host.fallback.shell.judge(line, judgeOptions)
      const root = host.booted?.session.root ?? `/home/${workdirName}/${WORKSPACE}`
      return createLineAnalyzer({ root, shell: 'bash', confined: true })(line, judgeOptions)
    },
    async run(command) {
      const runtime = await unlessAborted(host.open(), command.signal)
      if ('reason' in runtime) return runInFallback(runtime, command)
      // Changes in one container cannot be attributed to one of two lines, so lines run one at a time.
      const outcome = queue.next(async () => {
        if (host.isClosing) throw commandStopped()
        // The container may have failed while the line waited.
        const current = await host.open()
        if ('reason' in current) return runInFallback(current, command)
        const run = () => runLine(current, command, { host, commands, env, terminal })
        return current.background.whileUnwatched(run)
      })
      return commands.tracked(outcome)
    },
    async start(command) {
      const runtime = await unlessAborted(host.open(), command.signal)
      if ('reason' in runtime) return startInFallback(runtime, command)
      const process = await runtime.background.start(command, { env, terminal })
      void commands.tracked(process.ended)
      return process
    },
    async ready() {
      const runtime = await host.open()
      if ('session' in runtime) {
        const { tellsCwd, links } = runtime.session
        return { runs: 'webcontainer', tellsCwd, links }
      }
      const { shell, reason } = runtime
      return shell === undefined ? { runs: 'nothing', reason } : { runs: 'fallback', name: shell.name, reason }
    },
    ports: ports.list,
    resize(size) {
      terminal = size
      host.booted?.background.resize(size)
    },
    async close() {
      host.stop()
      commands.stop()
      await host.booted?.background.close()
      await commands.settled()
      await host.release()
      await (host.fallback?.shell ?? (options.fallback || undefined))?.close()
    },
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const stop = () => reject(commandStopped())
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
