import { ToolError } from '../../errors.ts'
import { display, type Path } from '../../paths/logical-path.ts'
import { applyChanges } from '../shared/apply-changes.ts'
import { commandStopped, type RunningCommands } from '../shared/running-commands.ts'
import type { CommandFiles, ReadInput, ShellCommand, ShellOutcome } from '../types.ts'
import type { BootedContainer, ContainerHost } from './container-host.ts'
import type { Terminal } from './container-process.ts'
import type { ContainerSession } from './container-session.ts'
import { recordProtectedReads } from './precheck-paths.ts'

const CWD_UNKNOWN = "The container's shell does not report the directory in which a line ends: cwd is the initial one"

/** Character that ends the input of a terminal. */
const END_OF_INPUT = '\u0004'

export interface LineOptions {
  readonly host: ContainerHost
  readonly commands: RunningCommands
  readonly env: Readonly<Record<string, string>>
  readonly terminal: Terminal
}

/** Runs a foreground line in a container and applies its changes. Call it only inside the queue. @throws ToolError */
export async function runLine(
  booted: BootedContainer,
  command: ShellCommand,
  { host, commands, env, terminal }: LineOptions,
): Promise<ShellOutcome> {
  const { session, background } = booted
  const { line, cwd, files, stdin, readInput } = command
  const requireRunning = () => {
    if (host.isClosing || command.signal?.aborted) throw commandStopped()
  }
  requireRunning()
  await background.sync(command)
  await recordProtectedReads(command, session.root)
  requireRunning()
  const onOutput = command.onOutput && ((text: string) => command.onOutput?.('stdout', text))
  const process = await session.start({ line, cwd, env: { ...env, ...command.env }, terminal, onOutput })
  if (stdin !== undefined) await process.write(`${stdin}${END_OF_INPUT}`)
  else if (readInput !== undefined) void passInput(readInput, process)
  const { end: exitCode, cut } = await commands.untilEnd(process.ended, process.kill, command)
  if (exitCode === undefined) {
    host.abandon(booted)
    throw cut ?? new ToolError('SHELL_UNAVAILABLE', 'The container has ended; nothing that the command did was kept')
  }
  await applyLine(session, files, cut)
  const reported = await process.finalCwd()
  return {
    stdout: process.output(),
    stderr: '',
    exitCode,
    cwd: await visibleDirectory(reported, session.root, files, cwd),
    ...(session.tellsCwd ? {} : { warnings: [CWD_UNKNOWN] }),
  }
}

/** Passes on what a person enters, while the process runs. The terminal of the container prints it. */
async function passInput(
  readInput: ReadInput,
  process: { readonly ended: Promise<unknown>; write(text: string): Promise<void> },
): Promise<void> {
  let hasEnded = false
  void process.ended.finally(() => {
    hasEnded = true
  })
  while (!hasEnded) {
    const text = await readInput({ isEchoed: true })
    if (!hasEnded) await process.write(text ?? END_OF_INPUT).catch(() => {})
  }
}

/** Applies the changes of a line through the policy gate, or reverts them if the line was ended early. */
async function applyLine({ mirror }: ContainerSession, files: CommandFiles, cut: ToolError | undefined): Promise<void> {
  const changes = await mirror.changes()
  try {
    if (cut !== undefined) throw cut
    await mirror.prepare(files, changes)
    const refused = await applyChanges(files, changes)
    await mirror.settle(changes, (path) => !refused.has(path))
  } catch (error) {
    await mirror.settle(changes, () => false)
    throw error
  }
}

/** The reported directory, if it is visible in the workspace; otherwise the initial one. */
async function visibleDirectory(
  reported: string | undefined,
  root: string,
  files: CommandFiles,
  initial: Path,
): Promise<Path> {
  const path = reported === root ? '' : reported?.startsWith(`${root}/`) ? reported.slice(root.length + 1) : undefined
  if (path === undefined) return initial
  const stat = await files.stat(display(path as Path)).catch(() => undefined)
  return stat?.type === 'directory' ? stat.path : initial
}
