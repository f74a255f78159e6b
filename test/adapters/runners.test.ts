import { describe, expect, it } from 'vitest'
import { aiSdkTools } from '../../src/adapters/ai-sdk/index.ts'
import {
  anthropicTools,
  llamaIndexTools,
  openAiChatTools,
  openAiTools,
  toModelText,
} from '../../src/adapters/json-schema/index.ts'
import { mastraTools } from '../../src/adapters/mastra/index.ts'
import { memorySink } from '../../src/audit/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../../src/index.ts'

const files = { 'src/app.ts': 'export const answer = 41\n', '.env': 'PASSWORD=never-shown\n' }

const open = (options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous', ...options })

/** What the model gets, or the error that the framework makes an error result of. */
type Answer = string | readonly unknown[] | { readonly type: string; readonly value: unknown } | undefined

/** A function that calls a tool as a framework does, and the parts of the call that the framework passes on. */
interface Runner {
  readonly run: (workspace: Workspace, name: string, input: unknown, signal?: AbortSignal) => Promise<Answer>
  readonly passes: readonly ('id' | 'signal')[]
  /** How the framework recognizes an error. */
  readonly error: 'thrown' | 'typed' | 'none'
}

/** Runs a tool as Mastra does, which passes the result itself to `toModelOutput`. */
async function asMastra(tools: object, name: string, input: unknown, signal?: AbortSignal): Promise<Answer> {
  const tool = (tools as ReturnType<typeof mastraTools>)[name]
  const result = await tool?.execute(input, { toolCallId: 'call-1', ...(signal && { abortSignal: signal }) })
  return tool?.toModelOutput(result as never)
}

const runners: Readonly<Record<string, Runner>> = {
  'anthropicTools, by toolRunner': {
    async run(workspace, name, input, signal) {
      const tool = anthropicTools(workspace).tools.find((each) => each.name === name)
      return tool?.run(tool.parse(input), { toolUse: { id: 'call-1' }, signal })
    },
    passes: ['id', 'signal'],
    error: 'thrown',
  },
  'openAiTools, by an agent': {
    async run(workspace, name, input, signal) {
      const tool = openAiTools(workspace).tools.find((each) => each.name === name)
      expect([await tool?.isEnabled(), await tool?.needsApproval()]).toEqual([true, false])
      const details = { toolCall: { callId: 'call-1' }, ...(signal && { signal }) }
      return tool?.invoke({}, JSON.stringify(input), details)
    },
    passes: ['id', 'signal'],
    error: 'none',
  },
  'openAiChatTools, by runTools': {
    async run(workspace, name, input, signal) {
      const tool = openAiChatTools(workspace).tools.find((each) => each.function.name === name)
      const controller = new AbortController()
      if (signal?.aborted) controller.abort()
      return tool?.function.function(JSON.stringify(input), { controller })
    },
    passes: ['signal'],
    error: 'none',
  },
  'llamaIndexTools, by an agent': {
    run: async (workspace, name, input) =>
      llamaIndexTools(workspace)
        .find(({ metadata }) => metadata.name === name)
        ?.call(input),
    passes: [],
    error: 'none',
  },
  'mastraTools, by an agent': {
    run: (workspace, name, input, signal) => asMastra(mastraTools(workspace), name, input, signal),
    passes: ['id', 'signal'],
    error: 'typed',
  },
  'aiSdkTools, by an agent of Mastra': {
    run: (workspace, name, input, signal) => asMastra(aiSdkTools(workspace), name, input, signal),
    passes: ['id', 'signal'],
    error: 'typed',
  },
}

/** The answer in the form of the runner. */
function answerOf({ error }: Runner, text: string, isError: boolean): Answer {
  return error === 'typed' ? { type: isError ? 'error-text' : 'text', value: text } : text
}

describe.each(Object.entries(runners))('%s', (_, runner) => {
  it.each([
    ['a success', 'read_file', { path: 'src/app.ts' }],
    ['a change', 'edit_file', { path: 'src/app.ts', oldText: '41', newText: '42' }],
    ['a refusal', 'read_file', { path: '.env' }],
    ['a path outside', 'read_file', { path: '../x' }],
    ['a wrong input', 'read_file', { path: 7, colour: 'red' }],
    ['no input', 'write_file', {}],
  ])('shows the text of the result: %s', async (_, name, input) => {
    const sink = memorySink()
    const workspace = await open({ audit: sink })
    const direct = await (await open()).callTool(name, input)
    const expected = answerOf(runner, toModelText(name, direct), !direct.ok)
    const answer = runner.run(workspace, name, input)
    if (!direct.ok && runner.error === 'thrown') await expect(answer).rejects.toThrow(new Error(String(expected)))
    else expect(await answer).toEqual(expected)
    expect(sink.records().at(-1)?.stepId).toBe(runner.passes.includes('id') ? 'call-1' : undefined)
  })

  it.runIf(runner.passes.includes('signal'))('cancels the call on abort', async () => {
    const workspace = await open()
    const edit = { path: 'src/app.ts', oldText: '41', newText: '42' }
    const answer = runner.run(workspace, 'edit_file', edit, AbortSignal.abort()).catch(({ message }: Error) => message)
    expect(JSON.stringify(await answer)).toContain('ABORTED')
    expect((await workspace.files.read('src/app.ts')).content).toBe(files['src/app.ts'])
  })
})

it('mastraTools refuses a call of a version before 1, which passes the input as context', async () => {
  const { read_file } = mastraTools(await open())
  const input = { context: { path: 'src/app.ts' }, runId: undefined, runtimeContext: new Map() }
  await expect(read_file?.execute(input, { toolCallId: 'call-1' })).rejects.toThrow(
    'mastraTools() needs @mastra/core 1 or later',
  )
})
