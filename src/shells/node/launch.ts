import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { ToolError } from '../../errors.ts'
import { isAtOrBelow } from '../../paths/physical.ts'
import type { ShellCommand } from '../types.ts'
import { applyOverlayfs } from './apply-overlayfs.ts'
import { type Child, type ChildOptions, startChild } from './child.ts'
import { createCommandDirectory, removeCommandDirectory } from './command-directory.ts'
import { createEnvironment } from './environment.ts'
import { findMasks } from './find-masks.ts'
import { type CommandEffects, trackInPlaceChanges, type WorkspaceDirectory } from './in-place-changes.ts'
import type { Sandbox } from './sandbox.ts'
import { SCRIPT, type ShellProgram } from './shell-program.ts'
import { type WatchedMasks, watchMasks } from './watch-masks.ts'

export interface LauncherOptions {
  readonly workspace: WorkspaceDirectory
  readonly program: ShellProgram
  /** Without it, commands are ordinary processes of the user. */
  readonly sandbox: Sandbox | undefined
  /** Directories of the system that the sandbox shows, beside the usual ones. */
  readonly readable: readonly string[]
  /** Variables that the embedding program adds to every environment. */
  readonly env: Readonly<Record<string, string>> | undefined
  readonly graceMs: number
}

/** A child process, and its changes to the workspace. */
interface LaunchedChild {
  readonly child: Child
  readonly effects: CommandEffects
}

/** A started line. */
export interface LaunchedLine extends LaunchedChild {
  /** See {@link WatchedMasks.stop}. Returns 0 without a sandbox. */
  readonly stopWatching: WatchedMasks['stop']
}

/** Starts lines as child processes, and owns the directory for their temporary files. */
export class Launcher {
  readonly #options: LauncherOptions
  #scratch: string | undefined

  constructor(options: LauncherOptions) {
    this.#options = options
  }

  /** Starts a line so that its changes can be accepted or dropped. @throws ToolError */
  async launch(command: ShellCommand, stdin: ChildOptions['stdin']): Promise<LaunchedLine> {
    const { program, sandbox, workspace, graceMs } = this.#options
    const mark = crypto.randomUUID()
    const scratch = this.#scratchDirectory()
    const env = createEnvironment({
      home: sandbox === undefined ? join(scratch, 'home') : '/tmp/home',
      temporary: sandbox === undefined ? join(scratch, 'tmp') : '/tmp',
      shell: program.path,
      extra: [this.#options.env, command.env],
      mark,
    })
    const argv = [program.path, ...program.options, '-c', SCRIPT, program.name, command.line]
    const child = { argv, env, mark, graceMs, onOutput: command.onOutput, ...(stdin === undefined ? {} : { stdin }) }
    if (sandbox !== undefined) return this.#launchInSandbox(sandbox, command, child, join(scratch, mark))
    const effects = await trackInPlaceChanges(workspace, command.onCommit)
    const launched = await startWithEffects(effects, { ...child, cwd: join(workspace.root, command.cwd) })
    return { ...launched, stopWatching: () => 0 }
  }

  async #launchInSandbox(
    sandbox: Sandbox,
    command: ShellCommand,
    child: Omit<ChildOptions, 'cwd'>,
    commandDir: string,
  ): Promise<LaunchedLine> {
    const { root } = this.#options.workspace
    const { cwd, visibility } = command
    createCommandDirectory(commandDir)
    let watched: WatchedMasks | undefined
    try {
      if (visibility === undefined) {
        throw new ToolError('SHELL_UNAVAILABLE', 'The shell needs to know which files the command may read')
      }
      watched = await watchMasks(commandDir, await findMasks(root, visibility))
      const { masks, stop } = watched
      const effects = await this.#effectsIn(sandbox, commandDir, command.onCommit)
      const { readable } = this.#options
      const argv = sandbox.wrap({ root, commandDir, cwd, masks, readable, argv: child.argv })
      return { ...(await startWithEffects(effects, { ...child, argv, cwd: '/' })), stopWatching: stop }
    } catch (error) {
      watched?.stop(command.files)
      removeCommandDirectory(commandDir)
      throw error
    }
  }

  /** The effects of a command in a sandbox. Accepting or dropping them removes the directory of the command. */
  async #effectsIn(
    { overlayfs }: Sandbox,
    commandDir: string,
    onCommit: ShellCommand['onCommit'],
  ): Promise<CommandEffects> {
    const { workspace } = this.#options
    const { root, backend } = workspace
    const effects: CommandEffects =
      overlayfs === undefined
        ? await trackInPlaceChanges(workspace, onCommit)
        : {
            accept: (files) => applyOverlayfs({ root, commandDir, backend, listNames: overlayfs.listNames }, files),
            drop: async () => {},
          }
    const remove = () => removeCommandDirectory(commandDir)
    return {
      accept: (files) => effects.accept(files).finally(remove),
      drop: () => effects.drop().finally(remove),
    }
  }

  /** The directory for homes and temporary files. It exists until {@link close}. */
  #scratchDirectory(): string {
    if (this.#scratch === undefined) {
      if (isAtOrBelow(realpathSync(tmpdir()), this.#options.workspace.root, sep)) {
        throw new ToolError(
          'SHELL_UNAVAILABLE',
          'The directory for temporary files is inside the workspace; set TMPDIR',
        )
      }
      this.#scratch = realpathSync(mkdtempSync(join(tmpdir(), 'wardspace-shell-')))
      for (const name of ['home', 'tmp']) mkdirSync(join(this.#scratch, name))
    }
    return this.#scratch
  }

  close(): void {
    if (this.#scratch !== undefined) rmSync(this.#scratch, { recursive: true, force: true })
    this.#scratch = undefined
  }
}

/** Starts a child. Drops the effects if it does not start. */
async function startWithEffects(effects: CommandEffects, options: ChildOptions): Promise<LaunchedChild> {
  try {
    return { child: await startChild(options), effects }
  } catch (error) {
    await effects.drop()
    throw error
  }
}
