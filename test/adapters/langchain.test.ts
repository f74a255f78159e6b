import { AIMessageChunk, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { FakeStreamingChatModel } from '@langchain/core/utils/testing'
import { describe, expect, it } from 'vitest'
import { modelTools, toModelText } from '../../src/adapters/json-schema/index.ts'
import { langchainTools } from '../../src/adapters/langchain/index.ts'
import { memorySink } from '../../src/audit/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

const files = { 'src/app.ts': 'export const answer = 41\n', '.env': 'PASSWORD=never-shown\n' }

const open = (options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous', ...options })

type Tools = ReturnType<typeof langchainTools>

/** Runs one turn of LangChain, with its own fake model. Returns the messages with the results of the calls. */
async function turn(tools: Tools, ...calls: readonly { readonly name: string; readonly args: object }[]) {
  const tool_calls = calls.map((call, i) => ({
    ...call,
    args: { ...call.args },
    id: `call-${i}`,
    type: 'tool_call' as const,
  }))
  const model = new FakeStreamingChatModel({ chunks: [new AIMessageChunk({ content: '', tool_calls })] }).bindTools(
    tools,
  )
  const messages: BaseMessage[] = [new HumanMessage('Go.')]
  const reply = await model.invoke(messages)
  messages.push(reply)
  const answers: ToolMessage[] = []
  for (const call of reply.tool_calls ?? []) {
    const answer: unknown = await tools.find(({ name }) => name === call.name)?.invoke({ ...call, type: 'tool_call' })
    if (answer instanceof ToolMessage) answers.push(answer)
  }
  return answers
}

it('names the types in the message for a wrong list of media', async () => {
  const workspace = await open()
  for (const media of ['yes', 1, { images: true }]) {
    expect(() => langchainTools(workspace, { media } as never)).toThrow(
      /"media" of langchainTools\(\) must be true, false or a list of image\/png, .*application\/pdf/,
    )
  }
})

describe('langchainTools', () => {
  it('passes the definitions of modelTools to models', async () => {
    const workspace = await open({ shell: bash() })
    const reports = langchainTools(workspace).map((tool) => convertToOpenAITool(tool).function)
    expect(reports).toEqual(
      modelTools(workspace.tools).map(({ name, description, inputSchema }) => ({
        name,
        description,
        parameters: { $schema: expect.any(String), ...inputSchema },
      })),
    )
    await workspace.close()
  })

  it('answers the calls of a model, and returns the complete result as the artifact', async () => {
    const sink = memorySink()
    const workspace = await open({ audit: sink })
    const [read, edited] = await turn(
      langchainTools(workspace, { run: workspace.run({ id: 'second' }) }),
      { name: 'read_file', args: { path: 'src/app.ts' } },
      { name: 'edit_file', args: { path: 'src/app.ts', oldText: '41', newText: '42' } },
    )
    expect(read).toMatchObject({ status: 'success', tool_call_id: 'call-0', name: 'read_file' })
    expect(read?.content).toBe(toModelText('read_file', read?.artifact))
    expect(read?.artifact).toMatchObject({ ok: true, content: files['src/app.ts'], totalLines: 1 })
    expect(edited?.content).toMatch(/^Edited src\/app.ts/)
    const steps = sink.records().map(({ runId, stepId }) => `${runId} ${stepId}`)
    expect([...new Set(steps)]).toEqual(['second call-0', 'second call-1'])
  })

  it.each([
    ['a refusal', 'read_file', { path: '.env' }, 'POLICY_DENIED_SECRET'],
    ['a path outside', 'read_file', { path: '../x' }, 'PATH_REJECTED'],
    ['a wrong input', 'read_file', { path: 7, colour: 'red' }, 'INVALID_INPUT'],
    ['no input', 'write_file', {}, 'INVALID_INPUT'],
  ])('answers %s with a message of status error, without an exception', async (_, name, args, code) => {
    const sink = memorySink()
    const workspace = await open({ audit: sink })
    const [answer] = await turn(langchainTools(workspace), { name, args })
    expect(answer).toMatchObject({ status: 'error', tool_call_id: 'call-0', name, artifact: { ok: false, code } })
    expect(answer?.content).toMatch(new RegExp(`^${code}: `))
    expect(JSON.stringify(answer)).not.toContain('never-shown')
    expect(sink.records().at(-1)).toMatchObject({ code, stepId: 'call-0' })
  })

  it('returns texts if invoked without a tool call', async () => {
    const [read] = langchainTools(await open(), { tools: ['read_file'] })
    expect(await read?.invoke({ path: 'src/app.ts' })).toMatch(/^Read lines 1-1 of 1/)
    expect(await read?.invoke({ path: '.env' })).toMatch(/^POLICY_DENIED_SECRET: /)
  })

  it('cancels the call with the signal, so that it changes nothing', async () => {
    const workspace = await open({ shell: bash() })
    const stop = new AbortController()
    const [run] = langchainTools(workspace, { tools: ['run_command'] })
    const args = { command: 'echo x > made.txt; while true; do :; done' }
    const running = run?.invoke({ type: 'tool_call', id: 'c', name: 'run_command', args }, { signal: stop.signal })
    stop.abort()
    expect(await running).toMatchObject({ status: 'error', artifact: { code: 'ABORTED' } })
    expect(await workspace.call('file_info', { path: 'made.txt' })).toMatchObject({ code: 'NOT_FOUND' })
    await workspace.close()
  })

  it('offers the selected tools, and asks for approval if the workspace cannot', async () => {
    const workspace = await open({ policy: 'supervised' })
    const tools = langchainTools(workspace, { tools: ['write_file'], approve: () => ({ deny: 'not today' }) })
    expect(tools.map(({ name }) => name)).toEqual(['write_file'])
    const [answer] = await turn(tools, { name: 'write_file', args: { path: 'n.txt', content: 'x' } })
    expect(answer?.content).toContain('not today')
    expect(() => langchainTools(workspace, { tools: ['no_such_tool'] })).toThrow(/no tool "no_such_tool"/)
  })
})
