import type { JSONValue, ToolSet } from 'ai'
import { isSpoken, type SpokenResult, type SpokenTool } from '../dialect.ts'
import type { Failure } from '../errors.ts'
import type { CallOptions, Success } from '../pipeline.ts'
import type { ApproveHandler } from '../policy/approval.ts'
import type { ToolDescription } from '../workspace.ts'
import { toJsonSchema } from './json-schema.ts'

/** A workspace, or whatever passes calls on to one. */
export interface CallableTools {
  readonly tools: readonly ToolDescription[]
  /** Calls a tool by its name. Never rejects for what a model, a file or a backend can cause. */
  call(name: string, input: unknown, options?: CallOptions): Promise<Success | Failure>
}

/** As {@link CallableTools}, in a dialect. */
export interface CallableSpokenTools {
  readonly tools: readonly SpokenTool[]
  call(name: string, input: unknown, options?: CallOptions): Promise<SpokenResult>
}

/** Whose calls they are, which tools, and who answers what policy asks. */
export interface AiSdkOptions {
  /** The run that the model's calls belong to. Default: the workspace's own. */
  readonly run?: Pick<CallableTools, 'call'> | Pick<CallableSpokenTools, 'call'>
  /** Only these tools of the workspace. Default: all of them. */
  readonly tools?: readonly string[]
  /** Answers what policy asks, where the workspace has no `approve` of its own. */
  readonly approve?: ApproveHandler
}

/**
 * The tools of a workspace for the AI SDK (version 6): `generateText`, `streamText`, `ToolLoopAgent`. Their schemas are those of
 * `wardspace/json-schema`; input is judged by the workspace alone, so that a wrong one is a refusal like any other. A
 * refusal is no exception: the model is shown it, with its code and its hint, as the error of the call. The SDK's id of a
 * call is the `stepId` of its audit records, and its `abortSignal` cancels the call.
 *
 * @example
 * const { text } = await generateText({ model, tools: aiSdkTools(workspace), stopWhen: stepCountIs(20), prompt: 'Mend it.' })
 */
export function aiSdkTools(workspace: CallableTools | CallableSpokenTools, options: AiSdkOptions = {}): ToolSet {
  const { run = workspace, tools: wanted, approve } = options
  for (const name of wanted ?? []) {
    if (!workspace.tools.some((tool) => tool.name === name)) {
      throw new TypeError(`The workspace has no tool ${JSON.stringify(name)}`)
    }
  }
  const described = workspace.tools.filter(({ name }) => wanted === undefined || wanted.includes(name))
  const titles = new Map(described.map(({ name, title }) => [name, title]))
  const tools: ToolSet = {}
  for (const { name, description, inputSchema } of toJsonSchema(described)) {
    tools[name] = {
      title: titles.get(name) ?? name,
      description,
      inputSchema: schemaOf(inputSchema),
      execute: async (input: unknown, { toolCallId, abortSignal }) => {
        const signal = abortSignal === undefined ? {} : { signal: abortSignal }
        return plain(await run.call(name, input, { step: toolCallId, ...signal, ...(approve && { approve }) }))
      },
      toModelOutput: shown,
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
function shown({ output }: { output: unknown }) {
  const value = output as JSONValue & { readonly ok: boolean }
  if (isSpoken(value)) return spoken(value)
  return value.ok ? { type: 'json' as const, value } : { type: 'error-json' as const, value }
}

/** In a dialect's own form. */
function spoken({ isError, output }: SpokenResult) {
  if (typeof output === 'string') return { type: isError ? ('error-text' as const) : ('text' as const), value: output }
  return { type: isError ? ('error-json' as const) : ('json' as const), value: output as JSONValue }
}

/** As it is sent: without fields that are left out. */
function plain(result: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(result))
}
