import { generateText, type ModelMessage, stepCountIs } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { describe, expect, it, vi } from 'vitest'
import { aiSdkTools } from '../../src/adapters/ai-sdk/index.ts'
import { openAiTools } from '../../src/adapters/json-schema/index.ts'
import { langchainTools, type PendingCall } from '../../src/adapters/langchain/index.ts'
import { mastraTools } from '../../src/adapters/mastra/index.ts'
import { approvalsOf } from '../../src/adapters/model/framework-approvals.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { codex } from '../../src/dialects/codex/index.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../../src/index.ts'
import { createApprovals, createTimeline, trackCalls } from '../../src/ui/index.ts'

const open = (options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ backend: memory({ 'a.txt': 'one\n', 'b.txt': 'one\n' }), policy: 'supervised', ...options })

const edit = (path: string, newText = 'two') => ({ path, oldText: 'one', newText })
const contents = async ({ files }: Workspace) => [await files.readText('a.txt'), await files.readText('b.txt')]

/** What a program does with a framework's tools: the framework asks about a call, and runs it if the answer is yes. */
interface Flow {
  /** Returns what the call waits for. Frameworks ask about a call before they run it, or while they do. */
  ask(id: string, name: string, input: object): Promise<PendingCall | undefined>
  /** Continues with an answer for the call, as text. `pending` is that of another call where the framework confuses them. */
  approve(id: string, name: string, input: object, pending?: PendingCall): Promise<string>
}

/** A framework that asks before it runs a call. */
function before(
  needsApproval: (name: string, input: object, id: string) => Promise<boolean>,
  run: (name: string, input: object, id: string) => Promise<unknown>,
  pending: PendingCall[],
): Flow {
  return {
    async ask(id, name, input) {
      pending.length = 0
      const needs = await needsApproval(name, input, id)
      expect(pending.length).toBe(needs ? 1 : 0)
      return pending[0]
    },
    approve: async (id, name, input) => JSON.stringify(await run(name, input, id)),
  }
}

/** A framework whose tools stop at a question, and start again with its answer. */
function within(run: (name: string, input: object, id: string, question: Question) => Promise<unknown>): Flow {
  const asked = new Map<string, PendingCall>()
  return {
    async ask(id, name, input) {
      const question: Question = { answer: undefined, pending: undefined }
      await run(name, input, id, question).catch((error) => {
        if (error !== question) throw error
      })
      if (question.pending !== undefined) asked.set(id, question.pending)
      return question.pending
    },
    async approve(id, name, input, pending = asked.get(id)) {
      const answer = { approvalId: pending?.approvalId, answer: 'allow' }
      return JSON.stringify(await run(name, input, id, { answer, pending: undefined }))
    },
  }
}

interface Question {
  readonly answer: unknown
  pending: PendingCall | undefined
}

const flows: Readonly<Record<string, (workspace: Workspace) => Flow>> = {
  aiSdkTools(workspace) {
    const pending: PendingCall[] = []
    const tools = aiSdkTools(workspace, { approvals: 'framework', onPending: (call) => pending.push(call) })
    const context = (toolCallId: string) => ({ toolCallId, messages: [] }) as never
    return before(
      async (name, input, id) =>
        Boolean(await Reflect.apply(tools[name]?.needsApproval as () => unknown, undefined, [input, context(id)])),
      async (name, input, id) => tools[name]?.execute?.(input, context(id)),
      pending,
    )
  },
  openAiTools(workspace) {
    const pending: PendingCall[] = []
    const { tools } = openAiTools(workspace, { approvals: 'framework', onPending: (call) => pending.push(call) })
    const tool = (wanted: string) => tools.find(({ name }) => name === wanted)
    return before(
      async (name, input, id) => (await tool(name)?.needsApproval({}, input, id)) === true,
      async (name, input, callId) => tool(name)?.invoke({}, JSON.stringify(input), { toolCall: { callId } }),
      pending,
    )
  },
  langchainTools(workspace) {
    let question: Question = { answer: undefined, pending: undefined }
    const tools = langchainTools(workspace, {
      interrupt(pending) {
        if (question.answer !== undefined) return question.answer
        question.pending = pending
        throw question
      },
    })
    return within(async (name, args, id, asked) => {
      question = asked
      return tools.find((tool) => tool.name === name)?.invoke({ type: 'tool_call', id, name, args: { ...args } })
    })
  },
  mastraTools(workspace) {
    const tools = mastraTools(workspace, { approvals: 'framework' })
    return within(async (name, input, toolCallId, question) =>
      tools[name]?.execute(input, {
        toolCallId,
        agent: {
          suspend: (pending) => {
            question.pending = pending as PendingCall
          },
          resumeData: question.answer,
        },
      }),
    )
  },
}

describe.each(Object.entries(flows))('%s with the approvals of the framework', (_, createFlow) => {
  it('makes a call that needs no approval once', async () => {
    const workspace = await open({ policy: 'autonomous' })
    const { ask, approve } = createFlow(workspace)
    expect(await ask('1', 'append_file', { path: 'a.txt', content: 'two\n' })).toBeUndefined()
    const made = workspace.auditRecords().filter(({ toolName }) => toolName === 'append_file')
    expect(new Set(made.map(({ stepId }) => stepId))).toEqual(new Set(['1']))
    expect(await contents(workspace)).toEqual(['one\ntwo\n', 'one\n'])
    if (!['langchainTools', 'mastraTools'].includes(_)) {
      expect(await approve('1', 'append_file', { path: 'a.txt', content: 'two\n' })).toMatch(/Appended/)
      expect(await contents(workspace)).toEqual(['one\ntwo\n', 'one\n'])
    }
  })

  it('shows the change with the id of the call, and makes it when the answer is for this call', async () => {
    const workspace = await open()
    const { ask, approve } = createFlow(workspace)
    const pending = await ask('1', 'edit_file', edit('a.txt'))
    expect(pending).toMatchObject({
      callId: '1',
      request: { tool: 'edit_file', diff: expect.stringContaining('+two') },
    })
    const other = await ask('2', 'edit_file', edit('b.txt'))
    expect(other?.callId).toBe('2')
    expect(await contents(workspace)).toEqual(['one\n', 'one\n'])
    expect(await approve('2', 'edit_file', edit('b.txt'))).not.toContain('APPROVAL_REQUIRED')
    expect(await contents(workspace)).toEqual(['one\n', 'two\n'])
    const [record] = workspace.auditRecords().filter(({ pathsWritten }) => pathsWritten?.includes('b.txt'))
    expect(record).toMatchObject({ stepId: '2' })
    // The same answer again.
    expect(await approve('2', 'edit_file', { path: 'b.txt', oldText: 'two', newText: 'three' })).toContain(
      'APPROVAL_REQUIRED',
    )
    expect(await contents(workspace)).toEqual(['one\n', 'two\n'])
  })

  it('does not make another call by the answer', async () => {
    const workspace = await open()
    const { ask, approve } = createFlow(workspace)
    const pending = await ask('1', 'edit_file', edit('a.txt'))
    // With another input, another tool, and an id that nobody was asked about.
    expect(await approve('1', 'edit_file', edit('a.txt', 'else'), pending)).toContain('APPROVAL_REQUIRED')
    await ask('3', 'edit_file', edit('a.txt'))
    expect(await approve('3', 'delete_file', { path: 'a.txt' }, pending)).toContain('APPROVAL_REQUIRED')
    expect(await approve('4', 'edit_file', edit('b.txt'), pending)).toContain('APPROVAL_REQUIRED')
    expect(await contents(workspace)).toEqual(['one\n', 'one\n'])
  })

  it('refuses the answer when the file has changed since', async () => {
    const workspace = await open()
    const { ask, approve } = createFlow(workspace)
    await ask('1', 'edit_file', edit('a.txt'))
    await workspace
      .run({ id: 'person' })
      .callTool('append_file', { path: 'a.txt', content: 'mine\n' }, { approve: () => 'allow' })
    expect(await approve('1', 'edit_file', edit('a.txt'))).toContain('WRITE_CONFLICT')
    expect(await contents(workspace)).toEqual(['one\nmine\n', 'one\n'])
  })

  it('refuses a workspace that answers itself, which the framework would never be asked about', async () => {
    const approve = () => 'allow' as const
    const workspace = await open({ approve })
    const inDialect: unknown = await createWorkspace({
      ...{ backend: memory(), policy: 'supervised', approve, dialect: codex() },
    })
    const recorded = await open({ approve, record: () => {} })
    for (const answering of [workspace, await workspace.fork(), recorded, inDialect as Workspace]) {
      const message = `${_}(): the workspace answers approvals, not the framework; remove its approve`
      expect(() => createFlow(answering)).toThrow(new TypeError(message))
    }
    const quiet = await open({ record: () => {} })
    expect(() => createFlow(quiet)).not.toThrow()
  })

  it('does not take an answer to the question of another process', async () => {
    const workspace = await open()
    const pending = await createFlow(workspace).ask('1', 'edit_file', edit('a.txt'))
    expect(await createFlow(workspace).approve('1', 'edit_file', edit('a.txt'), pending)).toContain('APPROVAL_REQUIRED')
    expect(await contents(workspace)).toEqual(['one\n', 'one\n'])
  })
})

describe('a run whose approvals are those of trackCalls', () => {
  it('asks the person, and not the framework', async () => {
    const workspace = await open()
    const approvals = createApprovals()
    const run = trackCalls(workspace.run(), { timeline: createTimeline(), approvals })
    const flow = approvalsOf('aiSdkTools()', workspace, { approvals: 'framework', run })
    const asked = flow?.ask({ id: '1', name: 'edit_file', input: edit('a.txt') })
    await vi.waitUntil(() => approvals.snapshot.pending.length > 0)
    approvals.snapshot.pending[0]?.answer({ allow: 'once' })
    expect(await asked).toBeUndefined()
    expect((await contents(workspace))[0]).toBe('two\n')
  })
})

describe('the AI SDK', () => {
  const model = (...calls: readonly (readonly [id: string, path: string])[]) => {
    let isFirst = true
    return new MockLanguageModelV3({
      async doGenerate() {
        const content = isFirst
          ? calls.map(([toolCallId, path]) => ({
              ...{ type: 'tool-call' as const, toolCallId, toolName: 'edit_file', input: JSON.stringify(edit(path)) },
            }))
          : [{ type: 'text' as const, text: 'Done.' }]
        const finishReason = { unified: isFirst ? ('tool-calls' as const) : ('stop' as const), raw: undefined }
        isFirst = false
        const tokens = { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }
        const usage = { inputTokens: tokens, outputTokens: { total: 1, text: 1, reasoning: 0 } }
        return { content, finishReason, usage, warnings: [] }
      },
    })
  }

  it('asks with the id of each call, makes the approved one, and not that of an answer in another process', async () => {
    const workspace = await open()
    const create = () => aiSdkTools(workspace, { approvals: 'framework' })
    const tools = create()
    const script = model(['call-a', 'a.txt'], ['call-b', 'b.txt'])
    const prompt: ModelMessage[] = [{ role: 'user', content: 'Go.' }]
    const asked = await generateText({ model: script, tools, messages: prompt, stopWhen: stepCountIs(5) })
    const requests = asked.content.flatMap((part) => (part.type === 'tool-approval-request' ? [part] : []))
    expect(requests.map(({ toolCall }) => toolCall.toolCallId)).toEqual(['call-a', 'call-b'])
    expect(await contents(workspace)).toEqual(['one\n', 'one\n'])

    const answered: ModelMessage[] = [
      ...prompt,
      ...asked.response.messages,
      {
        role: 'tool',
        content: requests.map(({ approvalId, toolCall }) => ({
          ...{ type: 'tool-approval-response', approvalId, approved: toolCall.toolCallId === 'call-b' },
        })),
      },
    ]
    const elsewhere = await generateText({ model: script, tools: create(), messages: answered })
    expect(JSON.stringify(elsewhere.response.messages)).toContain('APPROVAL_REQUIRED')
    expect(await contents(workspace)).toEqual(['one\n', 'one\n'])

    const done = await generateText({ model: script, tools, messages: answered })
    expect(done.text).toBe('Done.')
    expect(await contents(workspace)).toEqual(['one\n', 'two\n'])
  })
})

it('takes a dialect, and refuses options that contradict each other', async () => {
  const workspace = await createWorkspace({
    ...{ backend: memory({ 'a.txt': 'one\n' }), policy: 'supervised', dialect: codex() },
  })
  const tools = aiSdkTools(workspace, { approvals: 'framework' })
  const input = { input: '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n' }
  const context = { toolCallId: '1', messages: [] } as never
  expect(await Reflect.apply(tools.apply_patch?.needsApproval as () => unknown, undefined, [input, context])).toBe(true)
  expect(await tools.apply_patch?.execute?.(input, context)).toMatchObject({ ok: true })
  expect(await workspace.files.readText('a.txt')).toBe('two\n')
  expect(() => aiSdkTools(workspace, { approvals: 'framework', approve: () => 'allow' })).toThrow('either approve or')
  expect(() => aiSdkTools(workspace, { onPending: () => {} })).toThrow("only with approvals: 'framework'")
  const { tools: own, callTool } = workspace
  expect(() => aiSdkTools({ tools: own, callTool }, { approvals: 'framework' })).toThrow('resume()')
})
