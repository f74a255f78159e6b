import type * as z from 'zod/mini'
import { checkCommand, startCommand, stopCommand } from './background-commands.ts'
import { fileTools } from './file-tools.ts'
import { memoryGet } from './memory-get.ts'
import { memoryRecall } from './memory-recall.ts'
import { memorySearch } from './memory-search.ts'
import { memoryStore } from './memory-store.ts'
import { runCommand } from './run-command.ts'
import { submitPlan } from './submit-plan.ts'

/** The tools for commands, notes and plans. To add one, add a line. */
const otherTools = [
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

/** All built-in tools, in the order in which models see them: reading files, changing them, then the others. */
export const builtinTools = /* @__PURE__ */ joined(fileTools, otherTools)

/** A function, because a bundler keeps an array that spreads another one, even if nothing uses it. */
function joined<const A extends readonly unknown[], const B extends readonly unknown[]>(
  a: A,
  b: B,
): readonly [...A, ...B] {
  return [...a, ...b]
}

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
