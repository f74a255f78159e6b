import type { CallOptions } from '../../call/state/call.ts'
import type { RunOptions } from '../../workspace/create-workspace.ts'
import { modelTools } from '../model/model-tools.ts'
import { resultToText } from '../model/result-text.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type CallResult,
  callOptionsOf,
  type OfferOptions,
  selectTools,
} from '../model/select-tools.ts'

export type { CallableDialectTools, CallableTools, CallResult, OfferOptions } from '../model/select-tools.ts'

/** Whose calls they are. */
export interface Caller {
  /** Calls a tool by its name. Never rejects for what a model, a file or a backend can cause. */
  callTool(name: string, input: unknown, options?: CallOptions): Promise<CallResult>
}

/** A workspace that opens runs: that of `createWorkspace`, in a dialect or not. */
export type OpensRuns = (CallableTools | CallableDialectTools) & {
  /** Opens a run. */
  run(options?: RunOptions): Caller
}

/** What a page offers, and until when. */
export interface WebToolsOptions extends OfferOptions {
  /** Takes the tools away, and cancels the calls that are under way. */
  readonly signal?: AbortSignal
}

/** A tool as `registerTool` takes it. */
interface WebTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly annotations: { readonly readOnlyHint: boolean }
  execute(input: unknown): Promise<unknown>
}

/** Where a page registers tools; `unregisterTool` is that of browsers which know no signal there. */
interface ModelContext {
  registerTool(tool: WebTool, options: { readonly signal: AbortSignal }): unknown
  unregisterTool?(name: string): unknown
}

/** Whether this page can offer tools: whether it has `document.modelContext`, or the older `navigator.modelContext`. */
export function hasWebTools(): boolean {
  return contextOf() !== undefined
}

/**
 * Offers the tools of a workspace to the browser's agent, by WebMCP: all of them, or none where one cannot be registered. Calls
 * have a run of their own, whose actor is `WebMCP`, unless another one is given. A result is a text block; a refusal has
 * `isError`.
 *
 * @returns what takes the tools away again, as the signal does
 * @throws TypeError where the page has no WebMCP, and for a name in `tools` that the workspace does not have
 * @throws Error where the page has a tool of such a name already
 * @example
 * if (hasWebTools()) await registerWebTools(workspace)
 */
export async function registerWebTools(workspace: OpensRuns, options: WebToolsOptions = {}): Promise<() => void> {
  const tools = selectTools(workspace, options)
  const context = contextOf()
  if (context === undefined) {
    throw new TypeError('This page has no WebMCP: neither document.modelContext nor navigator.modelContext')
  }
  const { signal: given } = options
  given?.throwIfAborted()
  const run: Caller = options.run ?? workspace.run({ actor: 'WebMCP' })
  const stop = new AbortController()
  const registered: string[] = []
  stop.signal.addEventListener('abort', () => {
    for (const name of registered) context.unregisterTool?.(name)
  })
  const end = () => stop.abort()
  given?.addEventListener('abort', end, { once: true })
  const mutates = new Map(tools.map((tool) => [tool.name, tool.mutates]))
  for (const { name, description, inputSchema } of modelTools(tools)) {
    try {
      const annotations = { readOnlyHint: mutates.get(name) === false }
      const execute = async (input: unknown) =>
        blocks(resultToText(name, await run.callTool(name, input, callOptionsOf(options, undefined, stop.signal))))
      await context.registerTool({ name, description, inputSchema, annotations, execute }, { signal: stop.signal })
      if (stop.signal.aborted) {
        // Taken away while it was put there.
        context.unregisterTool?.(name)
        throw stop.signal.reason
      }
      registered.push(name)
    } catch (cause) {
      if (cause === stop.signal.reason) throw cause
      end()
      const why = isDuplicate(cause) ? 'the page has one of that name already' : String(cause)
      throw new Error(`Cannot register the tool ${JSON.stringify(name)}: ${why}`, { cause })
    }
  }
  return end
}

/** A result as the Model Context Protocol has it. */
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
