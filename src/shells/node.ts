import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { node as directory } from '../backends/node.ts'
import { ToolError } from '../errors.ts'
import { display, type Path } from '../paths/logical-path.ts'
import { lineJudge } from './judging.ts'
import { type Child, startChild } from './node/child.ts'
import { environment } from './node/environment.ts'
import { type InPlace, openInPlace, type Place } from './node/in-place.ts'
import { createShadows } from './node/shadow.ts'
import { createTurns } from './node/turns.ts'
import type { BackgroundCommand, CommandFiles, Shell, ShellCommand, ShellOutcome, ShellProcess } from './shell.ts'

export interface NodeShellOptions {
  /** The directory of the workspace: the root that its `node()` backend was given. */
  readonly root: string
  /** As the backend was given it. */
  readonly stateDir?: string
  /** `none`: commands are ordinary processes, which can read and do whatever the user can. Policy asks about each. */
  readonly sandbox: 'none'
  /** What reads the lines. Default: bash where the system has it, else sh. */
  readonly shell?: 'bash' | 'sh'
  /** Variables of every command's environment, beside `PATH`, the locale and the time zone. Nothing else is passed on. */
  readonly env?: Readonly<Record<string, string>>
  /** How long a command that is stopped may take to end by itself, in milliseconds. Default: 2,000. */
  readonly graceMs?: number
  /** How much content is kept to put back what commands change in place. Default: 128 MiB. */
  readonly shadowBytes?: number
}

/**
 * Child processes of a real shell, over a workspace in a real directory. Needs a POSIX system.
 *
 * Commands work in the directory itself. What one has changed is found when it has ended, put back, and then done by the
 * workspace: guarded, judged, recorded and undone like any other call; what is refused stays as it was. Each command has a
 * process group of its own, and nothing of it is left when it has ended, was stopped, or the shell is closed.
 *
 * @throws TypeError where the root is no readable directory
 * @throws ToolError `SHELL_UNAVAILABLE` where the system has no POSIX shell
 * @example
 * ```ts
 * const workspace = await createWorkspace({
 *   backend: node('./repo'),
 *   shell: nodeShell({ root: './repo', sandbox: 'none' }),
 *   policy: { preset: 'autonomous', tools: { run_command: 'allow' } },
 * })
 * ```
 */
export function node(options: NodeShellOptions): Shell {
  if (options.sandbox !== 'none') {
    throw new TypeError("node(): without a sandbox, commands must be asked for by name: sandbox: 'none'")
  }
  const { graceMs = 2000, shadowBytes = 128 * 1024 * 1024 } = options
  const program = programOf(options.shell)
  const backend = directory(options.root, options.stateDir === undefined ? {} : { stateDir: options.stateDir })
  const root = realpathSync(options.root)
  const place: Place = { root, backend, shadows: createShadows(backend, shadowBytes) }
  const turns = createTurns()
  const stops = new Set<() => void>()
  const running = new Set<Promise<unknown>>()
  let scratch: string | undefined
  let isClosed = false

  /** A home and a place for temporary files, gone with the shell. */
  function scratchDirectory(): string {
    if (scratch === undefined) {
      scratch = realpathSync(mkdtempSync(join(tmpdir(), 'wardspace-shell-')))
      for (const name of ['home', 'tmp']) mkdirSync(join(scratch, name))
    }
    return scratch
  }

  function launch(command: ShellCommand, stdin: string | { readonly open: true } | undefined): Promise<Child> {
    const mark = crypto.randomUUID()
    const base = scratchDirectory()
    return startChild({
      argv: [program.path, ...program.options, '-c', SCRIPT, program.name, command.line],
      cwd: join(root, command.cwd),
      env: environment({
        home: join(base, 'home'),
        temporary: join(base, 'tmp'),
        shell: program.path,
        added: [options.env, command.env],
        mark,
      }),
      mark,
      graceMs,
      onOutput: command.onOutput,
      ...(stdin === undefined ? {} : { stdin }),
    })
  }

  function requireOpen(): void {
    if (isClosed) throw new ToolError('SHELL_UNAVAILABLE', 'The shell is closed')
  }

  /** Waits until a command has ended, or ends it; says whether it had to. */
  async function ending(
    child: Child,
    { timeoutMs, signal }: Pick<ShellCommand, 'timeoutMs' | 'signal'>,
  ): Promise<{ exitCode: number; report: string; cut: ToolError | undefined }> {
    let cut: ToolError | undefined
    const stop = (error: ToolError) => {
      cut ??= error
      child.stop()
    }
    const abort = () => stop(aborted())
    const late = () =>
      stop(new ToolError('COMMAND_TIMEOUT', `The command did not end within ${timeoutMs} ms`, { value: timeoutMs }))
    const timer = setTimeout(late, timeoutMs)
    stops.add(abort)
    signal?.addEventListener('abort', abort)
    if (signal?.aborted || isClosed) abort()
    try {
      return { ...(await child.ended), cut }
    } finally {
      clearTimeout(timer)
      stops.delete(abort)
      signal?.removeEventListener('abort', abort)
    }
  }

  async function run(command: ShellCommand): Promise<ShellOutcome> {
    const inPlace = await openInPlace(place, command.onCommit)
    let child: Child
    try {
      child = await launch(command, command.stdin)
    } catch (error) {
      await inPlace.drop()
      throw error
    }
    const { exitCode, report, cut } = await ending(child, command)
    if (cut !== undefined) {
      await inPlace.drop()
      throw cut
    }
    await inPlace.accept(command.files)
    return { ...child.output(), exitCode, cwd: await endedIn(report, root, command.files, command.cwd) }
  }

  function tracked<T>(promise: Promise<T>): Promise<T> {
    running.add(promise)
    const forget = () => running.delete(promise)
    promise.then(forget, forget)
    return promise
  }

  return {
    name: 'node',
    capabilities: Object.freeze({
      processes: true,
      network: true,
      background: true,
      stderr: true,
      guarded: false,
      confined: false,
      undo: true,
    }),
    judge: lineJudge({ root, shell: program.name }),
    run(command) {
      // Two commands at once could not tell whose change is whose.
      return tracked(
        turns.next(async () => {
          requireOpen()
          if (command.signal?.aborted) throw aborted()
          return run(command)
        }),
      )
    },
    async start(command) {
      requireOpen()
      const inPlace = await openInPlace(place, command.onCommit)
      const child = await launch(command, { open: true })
      const process = watch(child, ending(child, command), inPlace, command)
      void tracked(process.ended)
      return process
    },
    async close() {
      isClosed = true
      for (const stop of stops) stop()
      while (running.size > 0) await Promise.allSettled(running)
      await backend.close()
      if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true })
      scratch = undefined
    },
  }
}

/** The directory in which the line ends goes to a descriptor of its own, which output cannot reach. */
const SCRIPT = `trap 'pwd -P >&3' EXIT; eval "$1"`

interface Program {
  readonly name: 'bash' | 'sh'
  readonly path: string
  readonly options: readonly string[]
}

const programs: readonly Program[] = [
  { name: 'bash', path: '/bin/bash', options: ['--noprofile', '--norc'] },
  { name: 'bash', path: '/usr/bin/bash', options: ['--noprofile', '--norc'] },
  { name: 'sh', path: '/bin/sh', options: [] },
]

function programOf(wanted: 'bash' | 'sh' | undefined): Program {
  const found = programs.find(({ name, path }) => (wanted === undefined || name === wanted) && existsSync(path))
  if (found !== undefined) return found
  throw new ToolError('SHELL_UNAVAILABLE', `This system has no ${wanted ?? 'POSIX shell'}`)
}

/** A background command: what it changed is carried out at its end, as a call of its own. */
function watch(
  child: Child,
  ending: Promise<{ readonly exitCode: number; readonly cut: ToolError | undefined }>,
  inPlace: InPlace,
  command: BackgroundCommand,
): ShellProcess {
  let exitCode: number | undefined
  let note = ''
  async function finish(): Promise<void> {
    const { exitCode: code, cut } = await ending
    if (cut?.code === 'COMMAND_TIMEOUT') {
      await inPlace.drop()
      note = `${cut.message}\n`
      exitCode = 124
      return
    }
    await inPlace.accept(command.files)
    await command.keep()
    exitCode = code
  }
  const ended = finish().catch((error: unknown) => {
    note = `${error instanceof ToolError ? error.message : 'The command failed'}\n`
    exitCode = 126
  })
  return {
    output() {
      const { stdout, stderr } = child.output()
      const told = note
      note = ''
      return { stdout, stderr: stderr + told }
    },
    get exitCode() {
      return exitCode
    },
    write: child.write,
    async stop() {
      child.stop()
      await ended
    },
    ended,
  }
}

function aborted(): ToolError {
  return new ToolError('ABORTED', 'The command was stopped')
}

/** The directory that the shell said it ended in, where it lies in the workspace and shows. */
async function endedIn(report: string, root: string, files: CommandFiles, start: Path): Promise<Path> {
  const told = report.trimEnd().split('\n').at(-1) ?? ''
  const path = told === root ? '' : told.startsWith(root + sep) ? told.slice(root.length + 1) : undefined
  if (path === undefined) return start
  const stat = await files.stat(display(path as Path)).catch(() => undefined)
  return stat?.type === 'directory' ? stat.path : start
}
