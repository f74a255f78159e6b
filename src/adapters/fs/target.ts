import { must } from '../../util/check-options.ts'
import type { WorkspaceFiles } from '../../workspace/files.ts'

/** The run whose files a program sees. */
export interface FsTarget {
  /** The files. */
  readonly files: WorkspaceFiles
}

export const isWorkspaceOrRun = must('a workspace or a run', (value) => typeof Object(value).files === 'object')
