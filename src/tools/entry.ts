/**
 * The built-in tools, for `createWorkspace` of `wardspace/core`. A bundler keeps the tools that a page names.
 */

import { applyPatch } from './apply-patch.ts'
import { diffWorkspace } from './diff-workspace.ts'
import { listDirectory } from './list-directory.ts'
import { readFile } from './read-file.ts'
import { searchText } from './search-text.ts'
import { writeFile } from './write-file.ts'

export { appendFile } from './append-file.ts'
export { checkCommand, startCommand, stopCommand } from './background-commands.ts'
export { copyFile } from './copy-file.ts'
export { createDirectory } from './create-directory.ts'
export { deleteFile } from './delete-file.ts'
export { editFile } from './edit-file.ts'
export { fileInfo } from './file-info.ts'
export { fileTools } from './file-tools.ts'
export { findFiles } from './find-files.ts'
export { type BuiltinTool, builtinTools as allTools } from './index.ts'
export { memoryGet } from './memory-get.ts'
export { memoryRecall } from './memory-recall.ts'
export { memorySearch } from './memory-search.ts'
export { memoryStore } from './memory-store.ts'
export { moveFile } from './move-file.ts'
export { replaceRange } from './replace-range.ts'
export { runCommand } from './run-command.ts'
export { submitPlan } from './submit-plan.ts'
export { applyPatch, diffWorkspace, listDirectory, readFile, searchText, writeFile }

/** The tools of the set `minimal`: read, list, search, write, patch, diff. */
export const minimalTools: readonly [
  typeof listDirectory,
  typeof searchText,
  typeof readFile,
  typeof diffWorkspace,
  typeof applyPatch,
  typeof writeFile,
] = [listDirectory, searchText, readFile, diffWorkspace, applyPatch, writeFile]
