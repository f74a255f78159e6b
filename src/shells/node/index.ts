import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { nodeBackend as directory } from '../../backends/node/index.ts'
import { ToolError } from '../../errors.ts'
import { display, type Path } from '../../paths/logical-path.ts'
import { isAtOrIn } from '../../paths/physical.ts'
import { createSerialQueue } from '../../util/serial-queue.ts'
import { createLineAnalyzer } from '../shared/line-judge.ts'
import { commandStopped, createRunningCommands } from '../shared/running-commands.ts'
import type { BackgroundCommand, CommandFiles, Shell, ShellCommand, ShellOutcome, ShellProcess } from '../types.ts'
import { applyOverlayfs } from './apply-overlayfs.ts'
import { type Child, type ChildOptions, startChild } from './child.ts'
import { createCommandDirectory, removeCommandDirectory } from './command-directory.ts'
import { environment } from './environment.ts'
import { findMasks } from './find-masks.ts'
import { type Effects, type Place, trackInPlaceChanges } from './in-place-changes.ts'
import { probeSandbox, requireSandbox } from './probe.ts'
import { READY, SANDBOX_ROOT, type Sandbox } from './sandbox.ts'
import { createSnapshots } from './tree-snapshot.ts'
import { type WatchedMasks, watchMasks } from './watch-masks.ts'

export type { Mask, Sandbox, SandboxView } from './sandbox.ts'

/** Where commands run, what they see of the system, and in which sandbox. */
export interface NodeShellOptions {
  /** The directory of the workspace: the root that its `node()` backend was given. */
  readonly root: string
  /** As the backend was given it. */
  readonly stateDir?: string
  /**
   * What keeps commands from the rest of the system. Default: namespaces, where Linux gives them to everyone. `none`:
   * commands are ordinary processes, which can read and do whatever the user can, and policy asks about each.
   */
  readonly sandbox?: 'none' | Sandbox
  /** Directories of the system that a sandbox shows beside the usual ones, read-only: absolute paths. */
  readonly readable?: readonly string[]
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
 * In the sandbox, the workspace stands at `/workspace`; what policy does not let a command read is there and closed, the
 * system is read-only, and there is no network. What a command writes is kept apart where the sandbox can do that, and else
 * found when it has ended, and put back. Then the workspace does it: guarded, judged, recorded and undone like any other
 * call; what is refused stays as it was. Nothing of a command runs on when it has ended, was stopped, or the shell closed.
 *
 * @throws TypeError where the root is no readable directory
 * @throws ToolError `SHELL_UNAVAILABLE` where the system has no POSIX shell, or no sandbox and none was not asked for
 * @example
 * ```ts
 * const workspace = await createWorkspace({
 *   backend: nodeShell('./repo'),
 *   shell: nodeShell({ root: './repo', sandbox: 'none' }),
 *   policy: { preset: 'autonomous', tools: { run_command: 'allow' } },
 * })
 * ```
 */
export function nodeShell(options: NodeShellOptions): Shell {
  const sandbox = options.sandbox === 'none' ? undefined : (options.sandbox ?? requireSandbox(probeSandbox()))
  const { graceMs = 2000, shadowBytes = 128 * 1024 * 1024 } = options
  const program = programOf(options.shell)
  const backend = directory(options.root, options.stateDir === undefined ? {} : { stateDir: options.stateDir })
  const root = realpathSync(options.root)
  const place: Place = { root, backend, shadows: createSnapshots(backend, shadowBytes) }
  const shownRoot = sandbox === undefined ? root : SANDBOX_ROOT
  const turns = createSerialQueue()
  const commands = createRunningCommands()
  let scratch: string | undefined
  let isClosed = false

  /** A home and a place for temporary files, gone with the shell. */
  function scratchDirectory(): string {
    if (scratch === undefined) {
      if (isAtOrIn(realpathSync(tmpdir()), root, sep)) {
        throw new ToolError('SHELL_UNAVAILABLE', 'The directory for temporary files lies in the workspace; set TMPDIR')
      }
      scratch = realpathSync(mkdtempSync(join(tmpdir(), 'wardspace-shell-')))
      for (const name of ['home', 'tmp']) mkdirSync(join(scratch, name))
    }
    return scratch
  }

  /** Starts a line where its effects can be kept or dropped. */
  async function launch(command: ShellCommand, stdin: ChildOptions['stdin']): Promise<Started> {
    const mark = crypto.randomUUID()
    const base = scratchDirectory()
    const line = [program.path, ...program.options, '-c', SCRIPT, program.name, command.line]
    const env = environment({
      home: sandbox === undefined ? join(base, 'home') : '/tmp/home',
      temporary: sandbox === undefined ? join(base, 'tmp') : '/tmp',
      shell: program.path,
      added: [options.env, command.env],
      mark,
    })
    const how = { env, mark, graceMs, onOutput: command.onOutput, ...(stdin === undefined ? {} : { stdin }) }
    if (sandbox === undefined) {
      const effects = await trackInPlaceChanges(place, command.onCommit)
      const started = await begun(effects, startChild({ ...how, argv: line, cwd: join(root, command.cwd) }))
      return { ...started, settle: () => 0 }
    }
    const own = join(base, mark)
    createCommandDirectory(own)
    let watched: WatchedMasks | undefined
    try {
      if (command.visibility === undefined)
        throw new ToolError('SHELL_UNAVAILABLE', 'Nobody says what the command may read')
      watched = await watchMasks(own, await findMasks(root, command.visibility))
      const { masks, settle } = watched
      const effects = withOwn(own, await effectsIn(sandbox, own, command.onCommit))
      const { cwd } = command
      const argv = sandbox.wrap({ root, own, cwd, masks, readable: options.readable ?? [], argv: line })
      return { ...(await begun(effects, startChild({ ...how, argv, cwd: '/' }))), settle }
    } catch (error) {
      watched?.settle(command.files)
      removeCommandDirectory(own)
      throw error
    }
  }

  async function effectsIn({ apart }: Sandbox, own: string, onCommit: ShellCommand['onCommit']): Promise<Effects> {
    if (apart === undefined) return trackInPlaceChanges(place, onCommit)
    return {
      accept: (files) => applyOverlayfs({ root, own, backend, names: apart.names }, files),
      drop: async () => {},
    }
  }

  function requireOpen(): void {
    if (isClosed) throw new ToolError('SHELL_UNAVAILABLE', 'The shell is closed')
  }

  /** Waits until a command has ended, or ends it; says whether it had to. */
  async function ending(child: Child, how: Pick<ShellCommand, 'timeoutMs' | 'signal'>): Promise<Ended> {
    const { end, cut } = await commands.untilEnd(child.ended, child.stop, how)
    if (cut !== undefined || sandbox === undefined || end.report.startsWith(READY)) return { ...end, cut }
    const failure = new ToolError('SHELL_UNAVAILABLE', 'The sandbox could not be set up, and nothing was run')
    return { ...end, cut: failure }
  }

  async function run(command: ShellCommand): Promise<ShellOutcome> {
    const { child, effects, settle } = await launch(command, command.stdin)
    const { exitCode, report, cut } = await ending(child, command)
    settle(command.files)
    if (cut !== undefined) {
      await effects.drop()
      throw cut
    }
    await effects.accept(command.files)
    return { ...child.output(), exitCode, cwd: await endedIn(report, shownRoot, command.files, command.cwd) }
  }

  return {
    name: 'node',
    capabilities: Object.freeze({
      processes: true,
      network: sandbox?.network ?? true,
      background: true,
      stderr: true,
      guarded: false,
      confined: sandbox !== undefined,
      undo: true,
    }),
    judge: createLineAnalyzer({ root: shownRoot, shell: program.name }),
    run(command) {
      const begin = async () => {
        requireOpen()
        if (command.signal?.aborted) throw commandStopped()
        return run(command)
      }
      // Two commands at once in one place could not tell whose change is whose.
      return commands.tracked(sandbox?.apart === undefined ? turns.next(begin) : begin())
    },
    async start(command) {
      requireOpen()
      const started = await launch(command, { open: true })
      const process = watch(started, ending(started.child, command), command)
      void commands.tracked(process.ended)
      return process
    },
    async close() {
      isClosed = true
      commands.stop()
      await commands.settled()
      await backend.close()
      if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true })
      scratch = undefined
    },
  }
}

interface Ended {
  readonly exitCode: number
  readonly report: string
  readonly cut: ToolError | undefined
}

interface Started extends Begun, Pick<WatchedMasks, 'settle'> {}

interface Begun {
  readonly child: Child
  readonly effects: Effects
}

/** A child that does not start has no effects. */
async function begun(effects: Effects, starting: Promise<Child>): Promise<Begun> {
  try {
    return { child: await starting, effects }
  } catch (error) {
    await effects.drop()
    throw error
  }
}

/** Effects that take the command's own directory with them. */
function withOwn(own: string, effects: Effects): Effects {
  return {
    accept: (files) => effects.accept(files).finally(() => removeCommandDirectory(own)),
    drop: () => effects.drop().finally(() => removeCommandDirectory(own)),
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
  /* v8 ignore if -- @preserve: another platform: the tests need bash, and every POSIX system has /bin/sh */
  if (found === undefined) throw new ToolError('SHELL_UNAVAILABLE', `This system has no ${wanted ?? 'POSIX shell'}`)
  return found
}

/** A background command: what it changed is carried out at its end, as a call of its own. */
function watch({ child, effects, settle }: Started, ending: Promise<Ended>, command: BackgroundCommand): ShellProcess {
  let exitCode: number | undefined
  let note = ''
  async function finish(): Promise<void> {
    const { exitCode: code, cut } = await ending
    const tries = settle(command.files)
    if (cut !== undefined && cut.code !== 'ABORTED') {
      await effects.drop()
      // Nothing of it is kept but the record of what it tried.
      if (tries > 0) await command.keep().catch(() => {})
      note = `${cut.message}\n`
      exitCode = cut.code === 'COMMAND_TIMEOUT' ? 124 : 126
      return
    }
    await effects.accept(command.files)
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

/** The directory that the shell said it ended in, where it lies in the workspace and shows. */
async function endedIn(report: string, root: string, files: CommandFiles, start: Path): Promise<Path> {
  const lines = report.trimEnd()
  const told = lines.slice(lines.lastIndexOf('\n') + 1)
  const path = told === root ? '' : told.startsWith(root + sep) ? told.slice(root.length + 1) : undefined
  if (path === undefined) return start
  const stat = await files.stat(display(path as Path)).catch(() => undefined)
  return stat?.type === 'directory' ? stat.path : start
}
