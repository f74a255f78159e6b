import { ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Change, EntryState } from '../../storage/backend.ts'
import type { SerialQueue } from '../../util/serial-queue.ts'
import { applyChanges, type CommandChange } from '../shared/apply-changes.ts'
import { createMarks } from '../shared/secret-marks.ts'
import type { BackgroundCommand, CommandFiles, ShellCommand, ShellProcess } from '../types.ts'
import type { Terminal } from './container-process.ts'
import { type ContainerSession, type RunningLine, WORKSPACE } from './container-session.ts'
import { isContainerOwned } from './file-tree.ts'

/** The background commands of one container. */
export interface BackgroundLines {
  start(command: BackgroundCommand, how: StartOptions): Promise<ShellProcess>
  /** Carries out what they have changed until now, and makes the container fit a foreground command. Only in a turn. */
  sync(command: ShellCommand): Promise<void>
  /** They are not listened to for so long: a watch slows down what writes much. */
  whileUnwatched<T>(action: () => Promise<T>): Promise<T>
  /** Tells all of them something. */
  notify(text: string): void
  resize(terminal: Terminal): void
  /** Ends all of them. */
  close(): Promise<void>
}

interface StartOptions {
  readonly env: Readonly<Record<string, string>>
  readonly terminal: Terminal
}

interface Live {
  readonly command: BackgroundCommand
  readonly running: RunningLine
  files: CommandFiles
  tell(text: string): void
}

/** How long a hint waits for others, in milliseconds. */
const DEBOUNCE_MS = 200

/**
 * Background commands share the container, so that nobody can tell whose change is whose: what has changed while no
 * foreground command ran is carried out on behalf of the one that was started last.
 */
export function createBackgroundLines(cabin: ContainerSession, turns: SerialQueue): BackgroundLines {
  const live = new Set<Live>()
  const { mirror, container } = cabin
  /** What is told while one starts, which may be faster than the word of it. */
  let early = ''
  let starting = 0
  let watcher: { close(): void } | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  /** A hint and nothing else: what has changed is told by an export. */
  function hint(_event: string, name: string | Uint8Array): void {
    if (typeof name === 'string' && isContainerOwned(name as Path)) return
    timer ??= setTimeout(() => {
      timer = undefined
      void turns.next(collect).catch(() => {})
    }, DEBOUNCE_MS)
  }

  function listen(): void {
    if (live.size > 0) watcher ??= container.fs.watch(WORKSPACE, { recursive: true }, hint)
    else deafen()
  }

  function deafen(): void {
    watcher?.close()
    watcher = undefined
    clearTimeout(timer)
    timer = undefined
  }

  const collect = () => collectFor([...live].at(-1))

  async function collectFor(owner: Live | undefined): Promise<void> {
    if (owner === undefined) return
    const made = await mirror.changes()
    if (made.length > 0) await carryOut(owner, made)
  }

  /** All or nothing: what the workspace does not take is put back. */
  async function carryOut(owner: Live, made: readonly CommandChange[]): Promise<void> {
    let isReplayed = false
    try {
      await mirror.prepare(owner.files, made)
      const leftOut = await applyChanges(owner.files, made)
      isReplayed = true
      owner.files = await owner.command.keep()
      for (const path of leftOut) owner.tell(`Not kept, and put back: ${path}\n`)
      await mirror.settle(made, (path) => !leftOut.has(path))
    } catch (error) {
      owner.tell(`What it changed was put back: ${messageOf(error)}\n`)
      await mirror.settle(made, () => false)
      // It goes on with other files, for these hold what was refused.
      const next = isReplayed ? await owner.command.keep().catch(() => undefined) : undefined
      if (next === undefined) owner.running.kill()
      else owner.files = next
    }
  }

  async function fitFor({ files, visibility: sight, noteReadable: mayRead, tree }: ShellCommand): Promise<void> {
    if (sight === undefined) throw new ToolError('SHELL_UNAVAILABLE', 'Nobody says what the command may read')
    if ([...live].some(({ command }) => command.tree !== tree)) {
      throw new ToolError('SHELL_UNAVAILABLE', 'A background command runs in the container over other files', {
        hint: 'Stop it with stop_command, in the workspace or fork that started it.',
      })
    }
    await mirror.sync({ files, visibility: sight, noteReadable: mayRead, tree, isShared: live.size > 0 })
  }

  return {
    async sync(command) {
      await collect()
      await fitFor(command)
    },

    async start(command, { env, terminal }) {
      const running = await turns
        .next(async () => {
          starting += 1
          await collect()
          await fitFor(command)
          const { line, cwd } = command
          const onOutput = command.onOutput && ((text: string) => command.onOutput?.('stdout', text))
          return cabin.start({ line, cwd, env: { ...env, ...command.env }, terminal, onOutput })
        })
        .finally(() => {
          starting -= 1
        })
      let told = early
      early = ''
      const one: Live = {
        command,
        running,
        files: command.files,
        tell: (text) => {
          told += text
        },
      }
      live.add(one)
      listen()
      const unsubscribe = command.onCommit?.((changes) => {
        for (const { path, to } of changes) {
          const shown = shownAs(command, path, to)
          if (shown !== undefined) void turns.next(() => mirror.follow(path, shown)).catch(() => {})
        }
      })
      let exitCode: number | undefined
      let isLate = false
      const late = setTimeout(() => {
        isLate = true
        running.kill()
      }, command.timeoutMs)
      const abort = () => running.kill()
      command.signal?.addEventListener('abort', abort)
      async function finish(): Promise<void> {
        const code = await running.ended
        clearTimeout(late)
        command.signal?.removeEventListener('abort', abort)
        try {
          await turns.next(() => collectFor(one))
        } catch (error) {
          one.tell(`${messageOf(error)}\n`)
        }
        live.delete(one)
        unsubscribe?.()
        listen()
        if (isLate) one.tell(`The command did not end within ${command.timeoutMs} ms\n`)
        exitCode = isLate ? 124 : (code ?? 137)
      }
      const ended = finish()
      return {
        output() {
          const stderr = told
          told = ''
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
    },

    async whileUnwatched(action) {
      deafen()
      try {
        return await action()
      } finally {
        listen()
        // What came while nobody listened.
        if (live.size > 0) hint('change', '')
      }
    },

    notify(text) {
      for (const one of live) one.tell(text)
      if (starting > 0) early += text
    },

    resize(terminal) {
      for (const { running } of live) running.resize(terminal)
    },

    async close() {
      deafen()
      const ending = [...live].map(({ running }) => {
        running.kill()
        return running.ended
      })
      await Promise.allSettled(ending)
    },
  }
}

/** What another call's change is for the eyes of a command; `undefined` where it is not to be seen. */
function shownAs({ visibility: sight }: BackgroundCommand, path: Path, to: Change['to']): EntryState | undefined {
  if (to === null) return null
  if (sight?.see(path, to.type) !== true) return undefined
  if (to.type !== 'file') return to.type === 'directory' ? to : undefined
  try {
    return { type: 'file', bytes: createMarks().hide(to.bytes, path) }
  } catch {
    return null
  }
}

function messageOf(error: unknown): string {
  return error instanceof ToolError ? error.message : 'The command failed'
}
