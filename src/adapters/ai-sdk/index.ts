import type { JSONValue, ToolSet } from 'ai'
import { isDialectResult } from '../../dialects/runtime/types.ts'
import { checkOptions, isOneOf } from '../../util/check-options.ts'
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

export type { CallableDialectTools, CallableTools } from '../model/select-tools.ts'

/** Run, tools, approval handler and form of the results. */
export interface AiSdkOptions extends OfferOptions {
  /**
   * What the model receives: the text of `toModelText`, in the fewest tokens, or the whole result as JSON, for example for a scripted
   * model that reads its fields. The program receives the whole result in both cases. Default: `text`.
   */
  readonly results?: 'text' | 'json'
}

/**
 * Returns the tools of a workspace for the AI SDK (version 6 or 7): `generateText`, `streamText`, `ToolLoopAgent`, and for the agents
 * of Mastra. Their schemas are those of `modelTools`. Only the workspace validates input, so invalid input is a refusal like any other. A refusal is not thrown: the
 * model receives its code and hint as the error of the call. The SDK's id of a call is the `stepId` of its audit records, and its
 * `abortSignal` cancels the call.
 *
 * @example
 * const { text } = await generateText({ model, tools: aiSdkTools(workspace), stopWhen: stepCountIs(20), prompt: 'Fix it.' })
 */
export function aiSdkTools(workspace: CallableTools | CallableDialectTools, requested?: AiSdkOptions): ToolSet {
  const table = { ...offerTable, results: isOneOf('text', 'json') }
  const options = checkOptions<AiSdkOptions>('aiSdkTools()', requested, table)
  const { run = workspace, results = 'text' } = options
  const described = selectTools('aiSdkTools()', workspace, options)
  const titles = new Map(described.map(({ name, title }) => [name, { title }]))
  const tools: ToolSet = {}
  for (const { name, description, inputSchema } of modelTools(described)) {
    tools[name] = {
      ...titles.get(name),
      description,
      inputSchema: schemaOf(inputSchema),
      execute: async (input: unknown, { toolCallId, abortSignal }) =>
        plain(await run.callTool(name, input, callOptionsOf(options, toolCallId, abortSignal))),
      toModelOutput: (options: { output: unknown }) => modelOutput(name, resultIn(options), results),
    }
  }
  return tools
}

/** Wraps a JSON Schema as a Standard Schema, which the SDK reads. It accepts everything, because the workspace validates. */
function schemaOf(schema: Record<string, unknown>) {
  const toJson = () => structuredClone(schema)
  return {
    '~standard': {
      version: 1,
      vendor: 'wardspace',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: toJson, output: toJson },
    },
  } as const
}

/** Returns the result of a call. The AI SDK passes it as `output`; Mastra passes the result itself. */
function resultIn(options: { readonly output: unknown } | CallResult): CallResult {
  return 'ok' in options || isDialectResult(options) ? options : (options.output as CallResult)
}

/** Returns the output for the model. A refusal is marked as an error, for models that distinguish errors. */
function modelOutput(name: string, result: CallResult, form: 'text' | 'json') {
  const { text, isError } = resultToText(name, result)
  const value = isDialectResult(result) ? result.output : result
  if (typeof value === 'string' || form === 'text') {
    return { type: isError ? ('error-text' as const) : ('text' as const), value: text }
  }
  return { type: isError ? ('error-json' as const) : ('json' as const), value: value as JSONValue }
}

/** Removes undefined fields, as JSON does. */
function plain(result: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(result))
}
