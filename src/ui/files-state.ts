import type { Success } from '../call/state/call.ts'
import type { Failure } from '../errors.ts'
import type { Workspace } from '../workspace/types.ts'
import type { FileEntry, FilesSource } from './files-source.ts'
import type { PersonOptions } from './person-run.ts'

/** A visible row of the tree. */
export interface FileRow extends Required<FileEntry> {
  readonly path: string
  /** 0 for the entries of the root. */
  readonly depth: number
  /** Whether the entries of a directory are shown. */
  readonly isOpen: boolean
  /** Number of the entry in its directory, from 1. */
  readonly position: number
  /** Number of entries in its directory. */
  readonly siblings: number
}

/** The entry that a person is naming in the tree, with the entered text. */
export type Naming = { readonly text: string } & (
  | { readonly kind: 'file' | 'directory'; readonly parent: string }
  | { readonly kind: 'rename'; readonly path: string }
)

/** What an action did, or why it did nothing. */
export interface FileNotice {
  readonly text: string
  readonly isRefused: boolean
  /** The call of the action, or `undefined` when nothing can be undone. */
  readonly callId: string | undefined
}

/** An action that waits for an answer, since a file of that name exists. */
export interface ReplaceQuestion {
  readonly path: string
  readonly to: string
  /** Directories are not replaced. */
  readonly type: 'file' | 'directory'
}

/** An entry that was copied or cut in the tree. */
export interface FileClipboard {
  readonly path: string
  readonly isCut: boolean
}

/** The state of {@link Files}. */
export interface FilesSnapshot {
  readonly rows: readonly FileRow[]
  readonly isLoading: boolean
  /** Why entries are missing, in a person's words, or `undefined` when none are. */
  readonly trouble: string | undefined
  /** The path of the row that the keyboard is on. */
  readonly selected: string | undefined
  readonly naming: Naming | undefined
  readonly question: ReplaceQuestion | undefined
  readonly clipboard: FileClipboard | undefined
  readonly notice: FileNotice | undefined
}

/** A change of several files in one step. */
export interface FileChanges {
  /** Files and directories to delete, with everything in them. */
  readonly remove?: string[]
  /** A file that takes the place of another one. */
  readonly replace?: { readonly path: string; readonly to: string }
  readonly label: string
}

/** Options of {@link createFiles}. */
export interface FilesOptions extends PersonOptions {
  readonly workspace: PersonOptions['workspace'] & Pick<Workspace, 'undo'>
  /** Where the files come from, by default from `list_directory` and `file_info`. */
  readonly source?: FilesSource | undefined
  /** Deletes and replaces in one step, directories as well. Without it, `delete_file` and `move_file` do so for files. */
  readonly changeFiles?: ((changes: FileChanges) => Promise<Success | Failure>) | undefined
  /** Called after an entry was moved or moved back, for example to take an open tab along. */
  readonly onMove?: ((path: string, to: string) => unknown) | undefined
  /** Called after an entry was deleted. */
  readonly onRemove?: ((path: string) => void) | undefined
  /** Whether a file has text that is not saved, so that no other file takes its place. */
  readonly hasDraft?: ((path: string) => boolean) | undefined
}
