import { ToolError } from '../../errors.ts'
import { display, type Path } from '../../paths/logical-path.ts'
import { createSerialQueue } from '../../util/serial-queue.ts'
import { bash } from '../bash/index.ts'
import { applyChanges } from '../shared/apply-changes.ts'
import { createLineAnalyzer } from '../shared/line-judge.ts'
import { commandStopped, createRunningCommands } from '../shared/running-commands.ts'
import type { BackgroundCommand, CommandFiles, Shell, ShellCommand, ShellOutcome } from '../types.ts'
import { type BackgroundLines, createBackgroundLines } from './background-lines.ts'
import { type AuthOptions, acquireContainer } from './client.ts'
import { containerCall } from './container-call.ts'
import type { Terminal } from './container-process.ts'
import { type ContainerSession, openContainerSession, WORKSPACE } from './container-session.ts'
import { type FallbackState, runInFallback, startInFallback } from './fallback.ts'
import { createPorts, type OpenPort } from './ports.ts'
import { recordProtectedReads } from './precheck-paths.ts'

export type { AuthOptions, OpenPort, Terminal }

/** How the container is booted, and what runs commands where there is none. */
export interface WebContainerOptions {
  /** What runs commands where there is no container. Default: `bash()`. `false`: commands are `SHELL_UNAVAILABLE` then. */
  readonly fallback?: Shell | false
  /** How long the container may take to boot, in milliseconds. Default: 30,000. */
  readonly bootTimeoutMs?: number
  /** The vendor's key, for a site that needs one. */
  readonly apiKey?: string
  /** Signs in at the vendor, for private packages. */
  readonly auth?: AuthOptions
  /** The page's Cross-Origin-Embedder-Policy, where it is not `require-corp`. */
  readonly coep?: 'require-corp' | 'credentialless' | 'none'
  /** The name of the container's working directory. Default: `wardspace`. */
  readonly workdirName?: string
  /** Passes errors of previews on to this page. */
  readonly forwardPreviewErrors?: boolean | 'exceptions-only'
  /** A script that every preview loads. */
  readonly previewScript?: string
  /** Variables of every command's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** The size of the commands' terminal. Default: 120 columns, 40 rows. */
  readonly terminal?: Terminal
  /** How long a command that is stopped may take to end, in milliseconds; then the container is ended. Default: 5,000. */
  readonly graceMs?: number
  /** How much of a workspace goes into a container. Default: 128 MiB. */
  readonly maxBytes?: number
  /** Told of each port that a server of the container listens on, and when it closes. */
  readonly onPort?: (port: OpenPort, type: 'open' | 'ready' | 'close') => void
}

/** What runs the commands. */
export type WebContainerState =
  | {
      readonly runs: 'webcontainer'
      /** Whether the directory in which a line ends is told. Without it, each command starts where it says. */
      readonly tellsCwd: boolean
      /** Whether symbolic links are in the container. Without it they stay as they are. */
      readonly links: boolean
    }
  | { readonly runs: 'fallback'; readonly name: string; readonly reason: string }
  | { readonly runs: 'nothing'; readonly reason: string }

/** A shell whose commands run in a container, and what a page may ask of it. */
export interface WebContainerShell extends Shell {
  /** Boots the container, if that was not done yet, and tells what runs the commands. Rejects only when the shell is closed. */
  ready(): Promise<WebContainerState>
  /** The ports on which servers listen now, with the addresses of their previews. */
  ports(): readonly OpenPort[]
  /** The size of the terminal from now on, for what runs and what is started later. */
  resize(terminal: Terminal): void
}

/**
 * Real Node in the page of a browser, by the package `@webcontainer/api`. The runtime is its vendor's and comes from the
 * vendor's server when it boots. The page has to be cross-origin isolated, and has one container: one shell at a time.
 *
 * The container gets what policy lets a command read, and nothing else: protected and hidden files never cross over, and
 * recognised secrets cross as marks. When a command has ended, what it changed is done through the gate: guarded, judged,
 * recorded and undone like any other call. What is refused is put back in the container, and told. `node_modules` and
 * `.git` belong to the container alone.
 *
 * Where there is no container, `fallback` runs the commands, and each result says why.
 *
 * @example
 * ```ts
 * const shell = webcontainer({ bootTimeoutMs: 20_000 })
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', shell })
 * const state = await shell.ready()
 * if (state.runs === 'fallback') console.log(state.reason)
 * await workspace.close()
 * ```
 */
export function webcontainer(options: WebContainerOptions = {}): WebContainerShell {
  const { bootTimeoutMs = 30_000, workdirName = 'wardspace', graceMs = 5000, maxBytes = 128 * 1024 * 1024 } = options
  const env = { TERM: 'dumb', NO_COLOR: '1', npm_config_yes: 'true', ...options.env }
  let { terminal = { cols: 120, rows: 40 } } = options
  const turns = createSerialQueue()
  const ports = createPorts(options.onPort)
  const closing = new AbortController()
  const commands = createRunningCommands()
  let world: Promise<World> | undefined
  let fallen: FallbackState | undefined
  let known: Booted | undefined

  function open(): Promise<World> {
    if (closing.signal.aborted) throw new ToolError('SHELL_UNAVAILABLE', 'The shell is closed')
    // Of what a container holds that did not do as it was told, nothing is known.
    if (known?.cabin.mirror.isLost()) abandon(known)
    world ??= boot()
    return world
  }

  async function boot(): Promise<World> {
    const { apiKey, auth, coep, forwardPreviewErrors, previewScript } = options
    try {
      const { signal } = closing
      const how = { timeoutMs: bootTimeoutMs, apiKey, auth, coep, workdirName, forwardPreviewErrors, signal }
      const held = await acquireContainer(how)
      try {
        const cabin = await openContainerSession(held, { graceMs, maxBytes })
        const background = createBackgroundLines(cabin, turns)
        ports.listen(cabin.container, (text) => background.notify(text))
        if (previewScript !== undefined) {
          await containerCall('take the script of previews', cabin.container.setPreviewScript(previewScript))
        }
        known = { cabin, background }
        return known
      } catch (error) {
        held.release()
        throw error
      }
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== 'SHELL_UNAVAILABLE') throw error
      const shell = options.fallback ?? bash()
      fallen = { reason: error.message, hint: error.details.hint, ...(shell === false ? {} : { shell }) }
      return fallen
    }
  }

  /** A container that does not do as it is told is ended. The next command boots another one. */
  function abandon({ cabin, background }: Booted): void {
    /* v8 ignore if -- @preserve: a defence in depth: only a command gives up its own container, and nobody else does in its turn */
    if (known?.cabin !== cabin) return
    known = undefined
    world = undefined
    ports.clear()
    void background.close()
    cabin.release()
  }

  async function run(booted: Booted, command: ShellCommand): Promise<ShellOutcome> {
    const { cabin, background } = booted
    const { mirror } = cabin
    const { line, cwd, files, stdin } = command
    if (closing.signal.aborted || command.signal?.aborted) throw commandStopped()
    await background.sync(command)
    await recordProtectedReads(command, cabin.root)
    if (closing.signal.aborted || command.signal?.aborted) throw commandStopped()
    const onOutput = command.onOutput && ((text: string) => command.onOutput?.('stdout', text))
    const process = await cabin.start({ line, cwd, env: { ...env, ...command.env }, terminal, onOutput })
    if (stdin !== undefined) await process.write(`${stdin}${END_OF_INPUT}`)
    const { end: code, cut } = await commands.untilEnd(process.ended, process.kill, command)
    if (code === undefined) {
      abandon(booted)
      throw cut ?? new ToolError('SHELL_UNAVAILABLE', 'The container has ended; nothing that the command did was kept')
    }
    const made = await mirror.changes()
    try {
      if (cut !== undefined) throw cut
      await mirror.prepare(files, made)
      const leftOut = await applyChanges(files, made)
      await mirror.settle(made, (path) => !leftOut.has(path))
    } catch (error) {
      await mirror.settle(made, () => false)
      throw error
    }
    const told = await process.finalCwd()
    return {
      stdout: process.output(),
      stderr: '',
      exitCode: code,
      cwd: await directoryAt(told, cabin.root, files, cwd),
      ...(cabin.tellsCwd ? {} : { warnings: [CWD_UNKNOWN] }),
    }
  }

  return {
    name: 'webcontainer',
    get capabilities() {
      return fallen?.shell?.capabilities ?? capabilities
    },
    judge: (line, how) => {
      if (fallen?.shell !== undefined) return fallen.shell.judge(line, how)
      const root = known?.cabin.root ?? `/home/${workdirName}/${WORKSPACE}`
      return createLineAnalyzer({ root, shell: 'bash' })(line, how)
    },
    async run(command) {
      const found = await unlessStopped(open(), command.signal)
      if ('reason' in found) return runInFallback(found, command)
      // Two commands at once in one container could not tell whose change is whose.
      const turn = async () => {
        if (closing.signal.aborted) throw commandStopped()
        // It may have been lost meanwhile.
        const now = await open()
        if ('reason' in now) return runInFallback(now, command)
        return now.background.whileUnwatched(() => run(now, command))
      }
      return commands.tracked(turns.next(turn))
    },
    async start(command: BackgroundCommand) {
      const found = await unlessStopped(open(), command.signal)
      if ('reason' in found) return startInFallback(found, command)
      const process = await found.background.start(command, { env, terminal })
      void commands.tracked(process.ended)
      return process
    },
    async ready() {
      const found = await open()
      if ('cabin' in found) {
        const { tellsCwd, links } = found.cabin
        return { runs: 'webcontainer', tellsCwd, links }
      }
      const { shell, reason } = found
      return shell === undefined ? { runs: 'nothing', reason } : { runs: 'fallback', name: shell.name, reason }
    },
    ports: ports.list,
    resize(size) {
      terminal = size
      known?.background.resize(size)
    },
    async close() {
      closing.abort()
      commands.stop()
      await known?.background.close()
      await commands.settled()
      await world?.catch(() => {})
      if (known !== undefined) abandon(known)
      await (fallen?.shell ?? (options.fallback || undefined))?.close()
    },
  }
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

interface Booted {
  readonly cabin: ContainerSession
  readonly background: BackgroundLines
}

type World = Booted | FallbackState

const CWD_UNKNOWN = "The container's shell does not tell in which directory a line ends: cwd is where it began"

/** What a terminal takes for the end of its input. */
const END_OF_INPUT = '\u0004'

function unlessStopped<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const stop = () => reject(commandStopped())
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

/** The directory that was told, where it lies in the workspace and shows. */
async function directoryAt(told: string | undefined, root: string, files: CommandFiles, start: Path): Promise<Path> {
  const path = told === root ? '' : told?.startsWith(`${root}/`) ? told.slice(root.length + 1) : undefined
  if (path === undefined) return start
  const stat = await files.stat(display(path as Path)).catch(() => undefined)
  return stat?.type === 'directory' ? stat.path : start
}
