import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { openDisk } from '../../backends/node/open-disk.ts'
import { ToolError } from '../../errors.ts'
import { display, type Path } from '../../paths/logical-path.ts'
import {
  checkOptions,
  isListOf,
  isObjectWith,
  isOneOf,
  isPositive,
  isRecordOf,
  isText,
  type OptionTable,
  refuseIdle,
  refuseSurplus,
} from '../../util/check-options.ts'
import { createSerialQueue } from '../../util/serial-queue.ts'
import { createLineAnalyzer } from '../shared/line-judge.ts'
import { commandStopped, createRunningCommands, type RunningCommands } from '../shared/running-commands.ts'
import type { CommandFiles, Shell, ShellCommand, ShellOutcome } from '../types.ts'
import { createBackgroundProcess, type LineEnd } from './background-process.ts'
import type { Child } from './child.ts'
import { Launcher } from './launch.ts'
import { probeSandbox, requireSandbox } from './probe.ts'
import { READY, SANDBOX_ROOT, type Sandbox } from './sandbox.ts'
import { findShellProgram } from './shell-program.ts'
import { createSnapshots } from './tree-snapshot.ts'

export type { Mask, Sandbox, SandboxView } from './sandbox.ts'

/** Options of {@link nodeShell}. */
export interface NodeShellOptions {
  /** Directory of the workspace: the root of its `nodeBackend()`. */
  readonly root: string
  /** State directory, if the backend was given one. */
  readonly stateDir?: string
  /**
   * Separates commands from the rest of the system. Default: namespaces, where Linux gives them to every user. `none`:
   * commands are ordinary processes, which can read and do whatever the user can, and policy asks about each one.
   */
  readonly sandbox?: 'none' | Sandbox
  /** Absolute paths of system directories that a sandbox shows read-only, beside the usual ones. */
  readonly readable?: readonly string[]
  /** Shell that reads the lines. Default: bash if the system has it, otherwise sh. */
  readonly shell?: 'bash' | 'sh'
  /** Variables for every command, beside `PATH`, the locale and the time zone. No others are passed on. */
  readonly env?: Readonly<Record<string, string>>
  /** Time that a stopped command has to end by itself, in milliseconds. Default: 2,000. */
  readonly graceMs?: number
  /** Maximum content kept to revert changes that commands make in place, in bytes. Default: 128 MiB. */
  readonly shadowBytes?: number
}

const isSandbox = isObjectWith('"none" or a sandbox', 'wrap')

const optionTable: OptionTable<NodeShellOptions> = {
  root: isText,
  stateDir: isText,
  sandbox: (value, ...at) => (value === 'none' ? value : isSandbox(value, ...at)),
  readable: isListOf(isText),
  shell: isOneOf('bash', 'sh'),
  env: isRecordOf(isText),
  graceMs: isPositive,
  shadowBytes: isPositive,
}

/**
 * Runs commands as child processes of a real shell, over a workspace in a real directory. Needs a POSIX system.
 *
 * In the sandbox, the workspace is at `/workspace`. Files that policy does not let a command read exist there but cannot
 * be opened, the system is read-only, and there is no network. Writes of a command go to a separate layer if the sandbox
 * supports that; otherwise they are detected and reverted when the command ends. Then they are applied through the
 * policy gate: guarded, evaluated, recorded and undone like the changes of any other call. Refused changes are not made.
 * No process of a command outlives the command or the shell.
 *
 * @throws TypeError if the root is not a readable directory
 * @throws ToolError `SHELL_UNAVAILABLE` if the system has no POSIX shell, or no sandbox and `none` was not requested
 * @example
 * const workspace = await createWorkspace({
 *   backend: nodeBackend('./repo'),
 *   shell: nodeShell({ root: './repo', sandbox: 'none' }),
 *   policy: { preset: 'autonomous', tools: { run_command: 'allow' } },
 * })
 */
export function nodeShell(requested: NodeShellOptions): Shell {
  refuseSurplus('nodeShell()', 1, arguments)
  const options = checkOptions<NodeShellOptions>('nodeShell()', requested, optionTable, 'root')
  if (options.sandbox === 'none') {
    const problem = 'with sandbox: "none", where commands can read whatever the user can; leave out one of them'
    refuseIdle('nodeShell()', options, ['readable'], problem)
  }
  const sandbox = options.sandbox === 'none' ? undefined : (options.sandbox ?? requireSandbox(probeSandbox()))
  const { graceMs = 2000, shadowBytes = 128 * 1024 * 1024, readable = [], env } = options
  const program = findShellProgram(options.shell)
  const backend = openDisk(options.root, options.stateDir === undefined ? {} : { stateDir: options.stateDir })
  const workspace = {
    root: realpathSync(options.root),
    backend,
    snapshots: createSnapshots(backend, shadowBytes),
  }
  const launcher = new Launcher({ workspace, program, sandbox, readable, env, graceMs })
  const root = sandbox === undefined ? workspace.root : SANDBOX_ROOT
  const queue = createSerialQueue()
  const commands = createRunningCommands()
  let isClosed = false

  function requireOpen(): void {
    if (isClosed) throw new ToolError('SHELL_UNAVAILABLE', 'The shell is closed')
  }

  async function run(command: ShellCommand): Promise<ShellOutcome> {
    requireOpen()
    if (command.signal?.aborted) throw commandStopped()
    const { child, effects, stopWatching } = await launcher.launch(command, command.stdin)
    const { exitCode, report, cut } = await untilEnd(commands, child, command, sandbox)
    stopWatching(command.files)
    if (cut !== undefined) {
      await effects.drop()
      throw cut
    }
    await effects.accept(command.files)
    return { ...child.output(), exitCode, cwd: await finalCwd(report, root, command.files, command.cwd) }
  }

  return {
    name: 'node',
    root,
    capabilities: Object.freeze({
      processes: true,
      network: sandbox?.network ?? true,
      background: true,
      stderr: true,
      guarded: false,
      confined: sandbox !== undefined,
      undo: true,
    }),
    judge: createLineAnalyzer({ root, shell: program.name, confined: sandbox !== undefined }),
    run(command) {
      // Changes in one directory cannot be attributed to one of two commands, so in-place commands run one at a time.
      const outcome = sandbox?.overlayfs === undefined ? queue.next(() => run(command)) : run(command)
      return commands.tracked(outcome)
    },
    async start(command) {
      requireOpen()
      const launched = await launcher.launch(command, { open: true })
      const ending = untilEnd(commands, launched.child, command, sandbox)
      const process = createBackgroundProcess(launched, ending, command)
      void commands.tracked(process.ended)
      return process
    },
    async close() {
      isClosed = true
      commands.stop()
      await commands.settled()
      await backend.close()
      launcher.close()
    },
  }
}

/** Waits for the end of a line, or ends it on its timeout or signal. */
async function untilEnd(
  commands: RunningCommands,
  child: Child,
  limits: Pick<ShellCommand, 'timeoutMs' | 'signal'>,
  sandbox: Sandbox | undefined,
): Promise<LineEnd> {
  const { end, cut } = await commands.untilEnd(child.ended, child.stop, limits)
  if (cut !== undefined || sandbox === undefined || end.report.startsWith(READY)) return { ...end, cut }
  const failure = new ToolError('SHELL_UNAVAILABLE', 'The sandbox could not be set up; nothing was run')
  return { ...end, cut: failure }
}

/** The directory that the shell reported at its end, if it is visible in the workspace; otherwise the initial one. */
async function finalCwd(report: string, root: string, files: CommandFiles, initial: Path): Promise<Path> {
  const lines = report.trimEnd()
  const reported = lines.slice(lines.lastIndexOf('\n') + 1)
  const path = reported === root ? '' : reported.startsWith(root + sep) ? reported.slice(root.length + 1) : undefined
  if (path === undefined) return initial
  const stat = await files.stat(display(path as Path)).catch(() => undefined)
  return stat?.type === 'directory' ? stat.path : initial
}
