import type { Path } from '../../paths/logical-path.ts'

/** Runs programs so that they see the workspace at `/workspace`, and nothing else that needs protection. */
export interface Sandbox {
  readonly name: string
  /** Whether programs in it can reach a network. */
  readonly network: boolean
  /**
   * Returns the program and arguments to start instead. When the view is set up, and before the given program starts,
   * they must write the line `ready` to descriptor 3. Without that line, the shell assumes that nothing was run.
   */
  wrap(view: SandboxView): readonly string[]
  /** For a sandbox whose writes go to an overlayfs, with the upper layer in {@link SandboxView.commandDir}. */
  readonly overlayfs?: {
    /** Lists the names that are visible in some directories after the command. */
    listNames(
      view: Pick<SandboxView, 'root' | 'commandDir'>,
      directories: readonly Path[],
    ): Promise<ReadonlyMap<Path, Set<string>>>
  }
}

/** What one command may see. */
export interface SandboxView {
  /** The physical root of the workspace. */
  readonly root: string
  /** Private directory of the command: empty `new`, `lower`, `upper` and `work`, and `void/f` and `void/d` as masks. */
  readonly commandDir: string
  /** The initial directory. */
  readonly cwd: Path
  /** Paths that must exist but not be readable. */
  readonly masks: readonly Mask[]
  /** Directories of the system to show read-only, beside the usual ones. */
  readonly readable: readonly string[]
  readonly argv: readonly string[]
}

/** A path that a command may not read, and the kind of its replacement: `f` for a file, `d` for a directory. */
export interface Mask {
  readonly kind: 'f' | 'd'
  /** Name of the replacement in `void` of the command's directory. Default: the kind. */
  readonly source?: string
  /** Relative to the root, as the system names it. It may not be a logical path. */
  readonly path: string
}

/** Path of the workspace inside a sandbox. */
export const SANDBOX_ROOT = '/workspace'

/** First line of the report of a sandbox that is set up. */
export const READY = 'ready\n'
