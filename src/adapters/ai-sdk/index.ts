import type { JSONValue, ToolSet } from 'ai'
import { isDialectResult } from '../../dialects/runtime/types.ts'
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

export type { CallableDialectTools, CallableTools } from '../model/select-tools.ts'

/** Whose calls they are, which tools, who answers what policy asks, and what the model is shown. */
export interface AiSdkOptions extends OfferOptions {
  /**
   * What the model is shown: the text of `toModelText`, in the fewest tokens, or the whole result as JSON, such as for a scripted
   * model that reads its fields. Default: `text`. The program is given the whole result in either case.
   */
  readonly results?: 'text' | 'json'
}

/**
 * The tools of a workspace for the AI SDK (version 6): `generateText`, `streamText`, `ToolLoopAgent`. Their schemas are those of
 * `modelTools`; input is judged by the workspace alone, so that a wrong one is a refusal like any other. A
 * refusal is no exception: the model is shown it, with its code and its hint, as the error of the call. The SDK's id of a
 * call is the `stepId` of its audit records, and its `abortSignal` cancels the call.
 *
 * @example
 * const { text } = await generateText({ model, tools: aiSdkTools(workspace), stopWhen: stepCountIs(20), prompt: 'Mend it.' })
 */
export function aiSdkTools(workspace: CallableTools | CallableDialectTools, options: AiSdkOptions = {}): ToolSet {
  const { run = workspace, results = 'text' } = options
  const described = selectTools(workspace, options)
  const titles = new Map(described.map(({ name, title }) => [name, { title }]))
  const tools: ToolSet = {}
  for (const { name, description, inputSchema } of modelTools(described)) {
    tools[name] = {
      ...titles.get(name),
      description,
      inputSchema: schemaOf(inputSchema),
      execute: async (input: unknown, { toolCallId, abortSignal }) =>
        plain(await run.callTool(name, input, callOptionsOf(options, toolCallId, abortSignal))),
      toModelOutput: ({ output }: { output: unknown }) => shown(name, output as CallResult, results),
    }
  }
  return tools
}

/** A schema by the Standard Schema specification, which the SDK reads. It takes everything: the workspace checks. */
function schemaOf(schema: Record<string, unknown>) {
  const inJson = () => structuredClone(schema)
  return {
    '~standard': {
      version: 1,
      vendor: 'wardspace',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: inJson, output: inJson },
    },
  } as const
}

/** A refusal is marked as an error, for those models that tell errors apart. */
function shown(name: string, result: CallResult, form: 'text' | 'json') {
  const { text, isError } = resultToText(name, result)
  const value = isDialectResult(result) ? result.output : result
  if (typeof value === 'string' || form === 'text') {
    return { type: isError ? ('error-text' as const) : ('text' as const), value: text }
  }
  return { type: isError ? ('error-json' as const) : ('json' as const), value: value as JSONValue }
}

/** As it is sent: without fields that are left out. */
function plain(result: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(result))
}
