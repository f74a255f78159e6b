import type * as z from 'zod/mini'
import { appendFile } from './append-file.ts'
import { applyPatch } from './apply-patch.ts'
import { checkCommand, startCommand, stopCommand } from './background-commands.ts'
import { copyFile } from './copy-file.ts'
import { createDirectory } from './create-directory.ts'
import { deleteFile } from './delete-file.ts'
import { diffWorkspace } from './diff-workspace.ts'
import { editFile } from './edit-file.ts'
import { fileInfo } from './file-info.ts'
import { findFiles } from './find-files.ts'
import { listDirectory } from './list-directory.ts'
import { memoryGet } from './memory-get.ts'
import { memoryRecall } from './memory-recall.ts'
import { memorySearch } from './memory-search.ts'
import { memoryStore } from './memory-store.ts'
import { moveFile } from './move-file.ts'
import { readFile } from './read-file.ts'
import { replaceRange } from './replace-range.ts'
import { runCommand } from './run-command.ts'
import { searchText } from './search-text.ts'
import { submitPlan } from './submit-plan.ts'
import { writeFile } from './write-file.ts'

/** All built-in tools, in the order in which models see them: reading, then changing. To add a tool, add a line. */
export const builtinTools = [
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
  runCommand,
  startCommand,
  checkCommand,
  stopCommand,
  memorySearch,
  memoryGet,
  memoryRecall,
  memoryStore,
  submitPlan,
] as const

/** A built-in tool. */
export type BuiltinTool = (typeof builtinTools)[number]

/** The name of a built-in tool. */
export type ToolName = BuiltinTool['name']

/** A built-in tool by its name. */
export type ToolOf<N extends ToolName> = Extract<BuiltinTool, { readonly name: N }>

/** The input of a tool. Fields with a default are optional. */
export type ToolInput<N extends ToolName> = z.input<ToolOf<N>['input']>

/** The result fields of a tool, without those that every success has. */
export type ToolOutput<N extends ToolName> = z.output<ToolOf<N>['output']>
