import type * as z from 'zod/mini'
import type { ResultOf } from '../call/state/call.ts'
import type { Tool } from '../tools/define-tool.ts'
import type { BuiltinTool } from '../tools/index.ts'

/** The tools of `extraTools` whose names the compiler knows. A plain `Tool[]` has none. */
type NamedTool<T extends Tool> = T extends Tool ? (string extends T['name'] ? never : T) : never

/** The tool among `T` that has the name `N`. */
type WithName<T extends Tool, N> = T extends Tool ? (N extends T['name'] ? T : never) : never

/** A tool of a workspace by its name. An own tool replaces the built-in tool of the same name. */
type ToolNamed<N, Extra extends readonly Tool[], Builtin extends Tool> = [
  WithName<NamedTool<Extra[number]>, N>,
] extends [never]
  ? WithName<Builtin, N>
  : WithName<NamedTool<Extra[number]>, N>

/** The input of each tool of a workspace, by name. Fields with a default are optional. */
export type ToolInputs<Extra extends readonly Tool[] = readonly [], Builtin extends Tool = BuiltinTool> = {
  readonly [N in Builtin['name'] | NamedTool<Extra[number]>['name']]: z.input<ToolNamed<N, Extra, Builtin>['input']>
}

/** The result fields of each tool of a workspace, by name. */
export type ToolOutputs<Extra extends readonly Tool[] = readonly [], Builtin extends Tool = BuiltinTool> = {
  readonly [N in Builtin['name'] | NamedTool<Extra[number]>['name']]: z.output<ToolNamed<N, Extra, Builtin>['output']>
}

/** The result of a tool: its own fields with those of every success, or a `ToolFailure`. */
export type ToolResult<
  N extends keyof ToolOutputs<Extra, Builtin>,
  Extra extends readonly Tool[] = readonly [],
  Builtin extends Tool = BuiltinTool,
> = ResultOf<ToolOutputs<Extra, Builtin>[N]>
