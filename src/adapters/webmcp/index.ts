import type { CallOptions } from '../../call/state/call.ts'
import { checkArgument, checkOptions, isAbortSignal, isObjectWith, refuseSurplus } from '../../util/check-options.ts'
import type { RunOptions } from '../../workspace/create-workspace.ts'
import { modelTools } from '../model/model-tools.ts'
import { resultToText } from '../model/result-text.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type CallResult,
  callOptionsOf,
  type OfferOptions,
  offerTable,
  selectTools,
} from '../model/select-tools.ts'

export type { CallableDialectTools, CallableTools, CallResult, OfferOptions } from '../model/select-tools.ts'

/** A run, or anything that makes calls. */
export interface Caller {
  /** Calls a tool by its name. Never rejects for anything that a model, a file or a backend can cause. */
  callTool(name: string, input: unknown, options?: CallOptions): Promise<CallResult>
}

/** A workspace that opens runs, with or without a dialect. */
export type OpensRuns = (CallableTools | CallableDialectTools) & {
  /** Opens a run. */
  run(options?: RunOptions): Caller
}

/** Tools that a page registers, and for how long. */
export interface WebToolsOptions extends OfferOptions {
  /** Unregisters the tools and cancels running calls. */
  readonly signal?: AbortSignal
}

/** A tool in the form of `registerTool`. */
interface WebTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly annotations: { readonly readOnlyHint: boolean }
  execute(input: unknown): Promise<unknown>
}

/** The API for registering tools. Browsers without support for the signal have `unregisterTool`. */
interface ModelContext {
  registerTool(tool: WebTool, options: { readonly signal: AbortSignal }): unknown
  unregisterTool?(name: string): unknown
}

/** Returns whether this page supports WebMCP: `document.modelContext`, or the older `navigator.modelContext`. */
export function hasWebTools(): boolean {
  refuseSurplus('hasWebTools()', 0, arguments)
  return contextOf() !== undefined
}

/**
 * Registers the tools of a workspace for the browser's agent with WebMCP. If one tool cannot be registered, none is. Calls belong
 * to a new run with the actor `WebMCP`, or to `options.run`. A result is a text block; a refusal has `isError`.
 *
 * @returns a function that unregisters the tools, as the signal does
 * @throws TypeError if the page has no WebMCP, and for a name in `tools` that the workspace does not have
 * @throws Error if the page already has a tool with the same name
 * @example
 * if (hasWebTools()) await registerWebTools(workspace)
 */
export async function registerWebTools(workspace: OpensRuns, requested?: WebToolsOptions): Promise<() => void> {
  refuseSurplus('registerWebTools()', 2, arguments)
  const table = { ...offerTable, signal: isAbortSignal }
  const options = checkOptions<WebToolsOptions>('registerWebTools()', requested, table)
  const tools = selectTools('registerWebTools()', workspace, options)
  if (options.run === undefined)
    checkArgument('registerWebTools()', 'workspace', workspace, isObjectWith('a workspace', 'run'))
  const context = contextOf()
  if (context === undefined) {
    throw new TypeError('This page has no WebMCP: neither document.modelContext nor navigator.modelContext')
  }
  const { signal } = options
  signal?.throwIfAborted()
  const run: Caller = options.run ?? workspace.run({ actor: 'WebMCP' })
  const stop = new AbortController()
  const registered: string[] = []
  stop.signal.addEventListener('abort', () => {
    for (const name of registered) context.unregisterTool?.(name)
  })
  const unregister = () => stop.abort()
  signal?.addEventListener('abort', unregister, { once: true })
  const mutates = new Map(tools.map((tool) => [tool.name, tool.mutates]))
  for (const { name, description, inputSchema } of modelTools(tools)) {
    try {
      const annotations = { readOnlyHint: mutates.get(name) === false }
      const execute = async (input: unknown) =>
        blocks(resultToText(name, await run.callTool(name, input, callOptionsOf(options, undefined, stop.signal))))
      await context.registerTool({ name, description, inputSchema, annotations, execute }, { signal: stop.signal })
      if (stop.signal.aborted) {
        // Aborted while the tool was being registered.
        context.unregisterTool?.(name)
        throw stop.signal.reason
      }
      registered.push(name)
    } catch (cause) {
      if (cause === stop.signal.reason) throw cause
      unregister()
      const reason = isDuplicate(cause) ? 'the page already has a tool with that name' : String(cause)
      throw new Error(`Cannot register the tool ${JSON.stringify(name)}: ${reason}`, { cause })
    }
  }
  return unregister
}

/** Returns a result in the form of the Model Context Protocol. */
function blocks({ text, isError }: { readonly text: string; readonly isError: boolean }) {
  return { content: [{ type: 'text', text }], ...(isError && { isError }) }
}

function isDuplicate(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'InvalidStateError'
}

function contextOf(): ModelContext | undefined {
  const { document, navigator } = globalThis as {
    readonly document?: { readonly modelContext?: ModelContext }
    readonly navigator?: { readonly modelContext?: ModelContext }
  }
  return document?.modelContext ?? navigator?.modelContext
}
