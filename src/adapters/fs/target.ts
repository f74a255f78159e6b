import type { WorkspaceFiles } from '../../workspace/files.ts'

/** The run whose files a program sees. */
export interface FsTarget {
  /** The files. */
  readonly files: WorkspaceFiles
}
