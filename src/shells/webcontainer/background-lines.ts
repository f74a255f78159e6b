import { ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Change, EntryState } from '../../storage/backend.ts'
import type { SerialQueue } from '../../util/serial-queue.ts'
import { runAfter } from '../../util/timers.ts'
import { applyChanges, type CommandChange } from '../shared/apply-changes.ts'
import { createMarks } from '../shared/secret-marks.ts'
import type { BackgroundCommand, CommandFiles, ShellCommand, ShellProcess } from '../types.ts'
import type { Terminal } from './container-process.ts'
import { type ContainerSession, type RunningLine, WORKSPACE } from './container-session.ts'
import { isContainerOwned } from './file-tree.ts'

interface StartOptions {
  readonly env: Readonly<Record<string, string>>
  readonly terminal: Terminal
}

/** The background lines of one container. */
export interface BackgroundLines {
  start(command: BackgroundCommand, options: StartOptions): Promise<ShellProcess>
  /** Commits the changes so far and copies the files of a foreground command. Call it only inside the queue. */
  sync(command: ShellCommand): Promise<void>
  /** Runs an action without watching files, because a watch slows down a command that writes many. */
  whileUnwatched<T>(action: () => Promise<T>): Promise<T>
  /** Adds a text to the error output of every line. */
  notify(text: string): void
  resize(terminal: Terminal): void
  /** Ends all lines. */
  close(): Promise<void>
}

/** A running background line. */
interface LiveLine {
  readonly command: BackgroundCommand
  readonly running: RunningLine
  files: CommandFiles
  /** Messages for the error output that were not fetched yet. */
  notes: string
}

/** Time to collect further watch events, in milliseconds. */
const DEBOUNCE_MS = 200

/**
 * Creates the background lines of one container. They share its files, so changes cannot be attributed to one of them:
 * changes made while no foreground command runs are committed on behalf of the line that was started last.
 */
export function createBackgroundLines(session: ContainerSession, queue: SerialQueue): BackgroundLines {
  return new SharedLines(session, queue)
}

class SharedLines implements BackgroundLines {
  readonly #session: ContainerSession
  readonly #queue: SerialQueue
  readonly #live = new Set<LiveLine>()
  readonly #watcher: FileWatcher
  /** Notes that arrive while a line starts, before it is in the set. */
  #earlyNotes = ''
  #starting = 0

  constructor(session: ContainerSession, queue: SerialQueue) {
    this.#session = session
    this.#queue = queue
    this.#watcher = new FileWatcher(session, () => void queue.next(() => this.#commitForLast()).catch(() => {}))
  }

  async sync(command: ShellCommand): Promise<void> {
    await this.#commitForLast()
    await this.#syncFiles(command)
  }

  async start(command: BackgroundCommand, { env, terminal }: StartOptions): Promise<ShellProcess> {
    const running = await this.#queue
      .next(async () => {
        this.#starting += 1
        await this.sync(command)
        const { line, cwd } = command
        const onOutput = command.onOutput && ((text: string) => command.onOutput?.('stdout', text))
        return this.#session.start({ line, cwd, env: { ...env, ...command.env }, terminal, onOutput })
      })
      .finally(() => {
        this.#starting -= 1
      })
    const live: LiveLine = { command, running, files: command.files, notes: this.#earlyNotes }
    this.#earlyNotes = ''
    this.#live.add(live)
    this.#updateWatch()
    const unsubscribe = command.onCommit?.((changes) => this.#follow(command, changes))
    return createLiveProcess(live, async () => {
      try {
        await this.#queue.next(() => this.#commit(live))
      } catch (error) {
        live.notes += `${failureText(error)}\n`
      }
      this.#live.delete(live)
      unsubscribe?.()
      this.#updateWatch()
    })
  }

  async whileUnwatched<T>(action: () => Promise<T>): Promise<T> {
    this.#watcher.stop()
    try {
      return await action()
    } finally {
      this.#updateWatch()
      // Covers events that were missed.
      if (this.#live.size > 0) this.#watcher.schedule()
    }
  }

  notify(text: string): void {
    for (const line of this.#live) line.notes += text
    if (this.#starting > 0) this.#earlyNotes += text
  }

  resize(terminal: Terminal): void {
    for (const { running } of this.#live) running.resize(terminal)
  }

  async close(): Promise<void> {
    this.#watcher.stop()
    const ending = [...this.#live].map(({ running }) => {
      running.kill()
      return running.ended
    })
    await Promise.allSettled(ending)
  }

  #updateWatch(): void {
    if (this.#live.size > 0) this.#watcher.start()
    else this.#watcher.stop()
  }

  /** Applies the commits of other calls to the container. */
  #follow(command: BackgroundCommand, changes: readonly Change[]): void {
    for (const { path, to } of changes) {
      const state = visibleState(command, path, to)
      if (state === undefined) continue
      void this.#queue.next(() => this.#session.mirror.follow(path, state)).catch(() => {})
    }
  }

  async #syncFiles({ files, visibility, noteReadable, tree }: ShellCommand): Promise<void> {
    if (visibility === undefined) {
      throw new ToolError('SHELL_UNAVAILABLE', 'The shell needs to know which files the command may read')
    }
    if ([...this.#live].some(({ command }) => command.tree !== tree)) {
      throw new ToolError('SHELL_UNAVAILABLE', 'A background command runs in the container over other files', {
        hint: 'Stop it with stop_command, in the workspace or fork that started it.',
      })
    }
    await this.#session.mirror.sync({ files, visibility, noteReadable, tree, isShared: this.#live.size > 0 })
  }

  async #commitForLast(): Promise<void> {
    const last = [...this.#live].at(-1)
    if (last !== undefined) await this.#commit(last)
  }

  /** Commits the changes in the container on behalf of a line. If the workspace refuses them, all are reverted. */
  async #commit(owner: LiveLine): Promise<void> {
    const { mirror } = this.#session
    const changes: readonly CommandChange[] = await mirror.changes()
    if (changes.length === 0) return
    let isApplied = false
    try {
      await mirror.prepare(owner.files, changes)
      const refused = await applyChanges(owner.files, changes)
      isApplied = true
      owner.files = await owner.command.keep()
      for (const path of refused) owner.notes += `Not kept, and put back: ${path}\n`
      await mirror.settle(changes, (path) => !refused.has(path))
    } catch (error) {
      owner.notes += `What it changed was put back: ${failureText(error)}\n`
      await mirror.settle(changes, () => false)
      // The refused changes are still in the files of the line, so it needs new ones.
      const next = isApplied ? await owner.command.keep().catch(() => undefined) : undefined
      if (next === undefined) owner.running.kill()
      else owner.files = next
    }
  }
}

/** Watches the workspace directory of a container. Events are only hints; an export determines what has changed. */
class FileWatcher {
  readonly #session: ContainerSession
  readonly #onChange: () => void
  #watch: { close(): void } | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(session: ContainerSession, onChange: () => void) {
    this.#session = session
    this.#onChange = onChange
  }

  start(): void {
    this.#watch ??= this.#session.container.fs.watch(WORKSPACE, { recursive: true }, (_event, name) => {
      if (typeof name !== 'string' || !isContainerOwned(name as Path)) this.schedule()
    })
  }

  /** Reports a change soon, together with those that follow. */
  schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#onChange()
    }, DEBOUNCE_MS)
  }

  stop(): void {
    this.#watch?.close()
    this.#watch = undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

/** The process of a background line. `finish` commits its last changes. */
function createLiveProcess(live: LiveLine, finish: () => Promise<void>): ShellProcess {
  const { command, running } = live
  let exitCode: number | undefined
  let isTimedOut = false
  const timer = runAfter(command.timeoutMs, () => {
    isTimedOut = true
    running.kill()
  })
  const abort = () => running.kill()
  command.signal?.addEventListener('abort', abort)
  async function end(): Promise<void> {
    const code = await running.ended
    clearTimeout(timer)
    command.signal?.removeEventListener('abort', abort)
    await finish()
    if (isTimedOut) live.notes += `The command did not end within ${command.timeoutMs} ms\n`
    exitCode = isTimedOut ? 124 : (code ?? 137)
  }
  const ended = end()
  return {
    output() {
      const stderr = live.notes
      live.notes = ''
      return { stdout: running.output(), stderr }
    },
    get exitCode() {
      return exitCode
    },
    write: running.write,
    async stop() {
      running.kill()
      await ended
    },
    ended,
  }
}

/** The state of another call's change as a command may see it, or `undefined` when the path is not visible to it. */
function visibleState({ visibility }: BackgroundCommand, path: Path, to: Change['to']): EntryState | undefined {
  if (to === null) return null
  if (visibility?.see(path, to.type) !== true) return undefined
  if (to.type !== 'file') return to.type === 'directory' ? to : undefined
  try {
    return { type: 'file', bytes: createMarks().hide(to.bytes, path) }
  } catch {
    return null
  }
}

function failureText(error: unknown): string {
  return error instanceof ToolError ? error.message : 'The command failed'
}
