import { appendFile } from './append-file.ts'
import { applyPatch } from './apply-patch.ts'
import { copyFile } from './copy-file.ts'
import { createDirectory } from './create-directory.ts'
import { deleteFile } from './delete-file.ts'
import { diffWorkspace } from './diff-workspace.ts'
import { editFile } from './edit-file.ts'
import { fileInfo } from './file-info.ts'
import { findFiles } from './find-files.ts'
import { listDirectory } from './list-directory.ts'
import { moveFile } from './move-file.ts'
import { readFile } from './read-file.ts'
import { replaceRange } from './replace-range.ts'
import { searchText } from './search-text.ts'
import { writeFile } from './write-file.ts'

/** The tools of the set `files`: all that work on files, without commands, notes and plans. To add one, add a line. */
export const fileTools = [
  listDirectory,
  findFiles,
  searchText,
  readFile,
  fileInfo,
  diffWorkspace,
  editFile,
  replaceRange,
  applyPatch,
  writeFile,
  appendFile,
  createDirectory,
  copyFile,
  moveFile,
  deleteFile,
] as const
