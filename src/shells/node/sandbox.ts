import type { Path } from '../../paths/logical-path.ts'

/** Runs programs where they see the workspace at `/workspace` and nothing else that matters. */
export interface Sandbox {
  readonly name: string
  /** Whether what runs in it reaches a network. */
  readonly network: boolean
  /**
   * The program and arguments to start instead. Once the view holds, and before the given program begins, they write the
   * line `ready` to descriptor 3; a command of which that was not heard has not begun.
   */
  wrap(view: SandboxView): readonly string[]
  /** Where writes do not reach the workspace itself: they lie below {@link SandboxView.own}, as overlayfs keeps them. */
  readonly apart?: {
    /** The names that now show in some directories. */
    names(
      view: Pick<SandboxView, 'root' | 'own'>,
      directories: readonly Path[],
    ): Promise<ReadonlyMap<Path, Set<string>>>
  }
}

/** What one command shall see. */
export interface SandboxView {
  /** The physical root of the workspace. */
  readonly root: string
  /** A directory for what belongs to this command: `new lower upper work`, empty, and `void/f`, `void/d` to mask with. */
  readonly own: string
  /** Where it starts. */
  readonly cwd: Path
  /** What must be there and cannot be opened. */
  readonly masks: readonly Mask[]
  /** Directories of the system to show, read-only, beside the usual ones. */
  readonly readable: readonly string[]
  readonly argv: readonly string[]
}

/** One thing that a command may not read, and what stands in its place: `f` for a file, `d` for a directory. */
export interface Mask {
  readonly kind: 'f' | 'd'
  /** What to mask with, below `void` of the command's directory; without it, what is named as the kind. */
  readonly source?: string
  /** Below the root, as the system names it: not every name there is a logical path. */
  readonly path: string
}

/** The name of the workspace inside a sandbox. */
export const SANDBOX_ROOT = '/workspace'

/** What a sandbox says when it is set up. */
export const READY = 'ready\n'
