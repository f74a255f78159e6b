/**
 * The built-in tools, for `createWorkspace` of `wardspace/core`. A bundler keeps the tools that a page names.
 */

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

export { checkCommand, startCommand, stopCommand } from './background-commands.ts'
export { type BuiltinTool, builtinTools as allTools } from './index.ts'
export { memoryGet } from './memory-get.ts'
export { memoryRecall } from './memory-recall.ts'
export { memorySearch } from './memory-search.ts'
export { memoryStore } from './memory-store.ts'
export { runCommand } from './run-command.ts'
export { submitPlan } from './submit-plan.ts'
export {
  appendFile,
  applyPatch,
  copyFile,
  createDirectory,
  deleteFile,
  diffWorkspace,
  editFile,
  fileInfo,
  findFiles,
  listDirectory,
  moveFile,
  readFile,
  replaceRange,
  searchText,
  writeFile,
}

/** The tools of the set `minimal`: read, list, search, write, patch, diff. */
export const minimalTools: readonly [
  typeof listDirectory,
  typeof searchText,
  typeof readFile,
  typeof diffWorkspace,
  typeof applyPatch,
  typeof writeFile,
] = [listDirectory, searchText, readFile, diffWorkspace, applyPatch, writeFile]

/** The tools of the set `files`: all that work on files, without commands, notes and plans. */
export const fileTools: readonly [
  typeof listDirectory,
  typeof findFiles,
  typeof searchText,
  typeof readFile,
  typeof fileInfo,
  typeof diffWorkspace,
  typeof editFile,
  typeof replaceRange,
  typeof applyPatch,
  typeof writeFile,
  typeof appendFile,
  typeof createDirectory,
  typeof copyFile,
  typeof moveFile,
  typeof deleteFile,
] = [
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
]
