import { streamText } from 'ai'
import { afterEach, describe, expect, it } from 'vitest'
import { createWorkspace } from 'wardspace'
import { aiSdkTools } from 'wardspace/ai-sdk'
import { memory } from 'wardspace/backends/memory'
import { type BuiltinApi, builtinModel, builtinState } from '../../../playground/agent/builtin.ts'
import { createAgent } from '../../../playground/agent/create-agent.ts'
import type { AgentEvent } from '../../../playground/agent/types.ts'

/** Creates a stand-in for the browser's model. `answer` returns its output for a prompt, in the requested form. */
function standIn(answer: (output: string, request: number) => string | Promise<string>) {
  const seen: { readonly system: string; readonly told: string; readonly form: object }[] = []
  let open = 0
  const api: BuiltinApi = {
    availability: async () => 'available',
    async create({ initialPrompts = [], signal }) {
      signal?.throwIfAborted()
      open += 1
      return {
        contextUsage: 321,
        contextWindow: 9_216,
        async prompt(told, { responseConstraint, signal: stop }) {
          stop?.throwIfAborted()
          seen.push({ system: initialPrompts[0]?.content ?? '', told, form: responseConstraint })
          return answer(told, seen.length)
        },
        destroy() {
          open -= 1
        },
      }
    },
  }
  return { api, seen, open: () => open }
}

const json = (say: string, tool?: string, input?: object) =>
  JSON.stringify({ say, call: tool ? { tool, input } : null })

async function run(api: BuiltinApi) {
  const workspace = await createWorkspace({
    backend: memory({ 'notes.txt': `The colour is teal.\n${'x'.repeat(20_000)}\n`, '.env': 'A=planted\n' }),
    policy: 'autonomous',
  })
  const { steps, text } = streamText({
    model: builtinModel(api),
    tools: aiSdkTools(workspace, { results: 'json' }),
    prompt: 'Which colour?',
    stopWhen: ({ steps: done }) => done.length >= 6,
    onError: () => {},
  })
  return { steps: await steps, text: await text }
}

/** Creates an agent with the model of the browser. */
async function builtinAgent() {
  const events: AgentEvent[] = []
  const workspace = await createWorkspace({ backend: memory(), policy: 'readOnly' })
  const agent = createAgent({
    tools: () => workspace,
    choice: { kind: 'builtin' },
    onEvent: (one) => events.push(one),
  })
  return { events, agent }
}

describe('the browser’s own model', () => {
  afterEach(() => {
    Reflect.deleteProperty(globalThis, 'LanguageModel')
  })

  it('counts its own context, under the names of every version of the API, and says when a conversation is too long', async () => {
    const { api } = standIn(() => json('Done.'))
    Object.assign(globalThis, { LanguageModel: api })
    const uses = async () => {
      const { events, agent } = await builtinAgent()
      expect(await agent.send('Go.')).toBe('finished')
      return events.flatMap((event) => (event.type === 'usage' ? [event.context] : []))
    }
    expect(await uses()).toEqual([{ tokens: 321, limit: 9_216 }])
    const session = (await api.create({})) as { contextUsage?: number; contextWindow?: number }
    const older = { ...session, contextUsage: undefined, contextWindow: undefined, inputUsage: 12, inputQuota: 4_096 }
    Object.assign(globalThis, { LanguageModel: { ...api, create: async () => older } })
    expect(await uses()).toEqual([{ tokens: 12, limit: 4_096 }])
    const unlimited = { ...session, contextWindow: Number.POSITIVE_INFINITY }
    Object.assign(globalThis, { LanguageModel: { ...api, create: async () => unlimited } })
    expect(await uses()).toEqual([{ tokens: 321, limit: undefined }])

    const full = new DOMException('The input is too large.', 'QuotaExceededError')
    Object.assign(globalThis, { LanguageModel: { ...api, create: () => Promise.reject(full) } })
    const { events, agent } = await builtinAgent()
    expect(await agent.send('Go.')).toBe('error')
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ message: expect.stringMatching(/^413: /) })
  })

  it('reads the tools in its prompt, calls them and sees their results', async () => {
    const { api, seen, open } = standIn((told, question) => {
      if (question === 1) return json('I look.', 'find_files', { pattern: '*.txt' })
      const path = /"([\w.]+\.txt)"/.exec(told)?.[1] ?? 'none'
      if (question === 2) return json('', 'read_file', { path })
      if (question === 3) return json('And the secrets?', 'read_file', { path: '.env' })
      return json(`It is ${/colour is (\w+)/.exec(told)?.[1]}. ${/POLICY_DENIED_SECRET/.exec(told)?.[0]}`)
    })
    const { steps, text } = await run(api)
    expect(text).toBe('It is teal. POLICY_DENIED_SECRET')
    expect(steps.map(({ toolCalls }) => toolCalls.map(({ toolName }) => toolName))).toEqual([
      ['find_files'],
      ['read_file'],
      ['read_file'],
      [],
    ])
    expect(steps[0]?.usage.inputTokens).toBe(321)
    expect(seen[0]?.system).toMatch(/^- read_file\(path: string, startLine\?: integer/m)
    expect(seen[0]?.form).toMatchObject({ required: ['say', 'call'] })
    expect(JSON.stringify(seen[0]?.form)).toContain('"apply_patch"')
    // The model has a small context, so long results are cut, with a notice.
    expect(Math.max(...seen.map(({ told }) => told.length))).toBeLessThan(10_000)
    expect(seen.at(-1)?.told).toContain('(cut; ask for a smaller part)')
    expect(open()).toBe(0)
  })

  it.each([
    ['not JSON', 'I would rather talk.', 'did not answer in JSON'],
    ['in another form', '{"call":7}', 'not answer in the requested form'],
  ])('reports an answer that is %s as an error, and ends its session', async (_, answer, message) => {
    const { api, open } = standIn(() => answer)
    const errors: unknown[] = []
    const { fullStream } = streamText({ model: builtinModel(api), prompt: 'Go.', onError: () => {} })
    for await (const part of fullStream) if (part.type === 'error') errors.push(String(part.error))
    expect(errors.join()).toContain(message)
    expect(open()).toBe(0)
  })

  it('is reported as absent or as unable to run on this machine', async () => {
    expect(await builtinState()).toMatchObject({
      api: undefined,
      says: expect.stringContaining('has no language model'),
    })
    const { api } = standIn(() => '')
    const cannot = await builtinState({ ...api, availability: async () => 'unavailable' })
    expect(cannot).toMatchObject({ api: undefined, says: expect.stringContaining('does not run on this machine') })
    expect((await builtinState({ ...api, availability: async () => 'downloadable' })).says).toContain(
      'once the browser',
    )
    const { events, agent } = await builtinAgent()
    expect(await agent.send('Go.')).toBe('error')
    expect(events.find(({ type }) => type === 'error')).toMatchObject({
      message: 'This browser has no language model of its own. Choose another model.',
    })
  })
})
