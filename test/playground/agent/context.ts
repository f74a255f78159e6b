import type { ModelMessage } from 'ai'
import { array, check, constantFrom, integer, nat, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWorkspace } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { call, type Script } from 'wardspace/testing/scripted-model'
import { charactersOf, compact, messagesFor, noCompaction, textAt } from '../../../playground/agent/compaction.ts'
import { createAgent } from '../../../playground/agent/create-agent.ts'
import type { AgentEvent, AgentLimits } from '../../../playground/agent/types.ts'
import { startModelServer } from '../model-server.ts'

/** A conversation with texts of these lengths: of the person, of the input and of the result of each call. */
function conversationOf(
  turns: readonly (readonly { readonly input: number; readonly result: number }[])[],
): ModelMessage[] {
  let count = 0
  return turns.flatMap((steps, turn): ModelMessage[] => [
    { role: 'user', content: `Request ${turn}` },
    ...steps.flatMap(({ input, result }): ModelMessage[] => {
      count += 1
      // Some servers use the same ids in every answer.
      const toolCallId = `call_${count % 3}`
      const output = { type: 'json' as const, value: { ok: true, content: `${count}:${'r'.repeat(result)}` } }
      const content = `${count}:${'i'.repeat(input)}`
      return [
        { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName: 'write_file', input: { content } }] },
        { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName: 'write_file', output }] },
      ]
    }),
    { role: 'assistant', content: `Answer ${turn}` },
  ])
}

const step = record({ input: constantFrom(1, 50, 900, 20_000), result: constantFrom(1, 50, 900, 20_000) })
const turns = array(array(step, { maxLength: 6 }), { minLength: 1, maxLength: 6 })

describe('a compacted conversation', () => {
  it('is valid, ends as before, and everything that was replaced is at its address', () => {
    const holds = property(turns, integer({ min: 0, max: 60_000 }), nat(40), (all, maxCharacters, cut) => {
      const messages = conversationOf(all)
      const end = messages.length - Math.min(cut, messages.length - 1)
      const part = messages.slice(0, end)
      const sent = messagesFor(part, compact(part, noCompaction, { target: maxCharacters / 2, max: maxCharacters }))
      expect(sent[0]?.role).toBe('user')
      // Each result follows its call.
      for (const [at, { role, content }] of sent.entries()) {
        if (role === 'tool') expect(callIds(sent[at - 1])).toEqual(resultIds(content))
      }
      expect(sent.at(-1)).toEqual(part.at(-1))
      const texts = JSON.stringify(sent)
      for (const [address] of texts.matchAll(/artifact:\/\/conversation\/\d+-(result|input)\.json/g)) {
        const [, number, kind] = /(\d+)-(\w+)/.exec(address) ?? []
        expect(textAt(part, address)).toContain(`${number}:${kind === 'result' ? 'r' : 'i'}`)
      }
      if (charactersOf(part) <= maxCharacters) expect(sent).toEqual(part)
    })
    expect(check(holds, { numRuns: 150 })).toMatchObject({ failed: false })
  })

  it('leaves out results first, then inputs, then messages', () => {
    const messages = conversationOf([Array.from({ length: 30 }, () => ({ input: 900, result: 900 }))])
    const levels = [70_000, 45_000, 20_000, 5_000].map((most) =>
      compact(messages, noCompaction, { target: most, max: most }),
    )
    const isUsed = levels.map(({ results, inputs, left }) => [results > 0, inputs > 0, left > 0])
    expect(isUsed).toEqual([
      [false, false, false],
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ])
    expect(charactersOf(messagesFor(messages, levels[3] ?? noCompaction))).toBeLessThan(5_000)
  })
})

function callIds(message: ModelMessage | undefined): readonly string[] {
  if (message?.role !== 'assistant' || typeof message.content === 'string') return []
  return message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
}

function resultIds(content: ModelMessage['content']): readonly string[] {
  if (typeof content === 'string') return []
  return content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))
}

/** Reads a file of 6,000 characters again and again, and then an address of the conversation, if there is one. */
const reading: Script = function* () {
  for (let line = 1; line <= 12; line++) yield* call('', 'read_file', { path: `f${line}.txt` })
  const earlier = yield* call('', 'read_file', { path: 'artifact://conversation/1-result.json' })
  const missing = yield* call('', 'read_file', { path: 'artifact://conversation/99-result.json' })
  return earlier.ok && earlier.content.includes('first 1') && !missing.ok ? 'All is well.' : JSON.stringify(earlier)
}

const files = Object.fromEntries(
  Array.from({ length: 12 }, (_, at) => [`f${at + 1}.txt`, `first ${at + 1}\n${'word '.repeat(1_200)}\n`]),
)

async function connect(
  limits: AgentLimits,
  {
    script = reading,
    contextTokens,
    provider = 'compatible' as const,
    ...more
  }: {
    script?: Script
    contextTokens?: number
    provider?: 'compatible' | 'anthropic'
    pieces?: number
  } = {},
) {
  const server = await startModelServer({ script, ...(contextTokens && { contextTokens }), ...more })
  const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous' })
  const events: AgentEvent[] = []
  const choice = { kind: 'endpoint', provider, baseUrl: server.url, model: 'm', key: () => 'a-key' } as const
  const agent = createAgent({
    tools: () => workspace,
    choice,
    fetch,
    limits: () => limits,
    onEvent: (event) => events.push(event),
  })
  return {
    ...{ server, agent, events },
    said: () => events.flatMap((event) => (event.type === 'text' ? [event.delta] : [])).join(''),
    async close() {
      await server.close()
      await workspace.close()
    },
  }
}

describe('the context of a model', () => {
  it.each(['compatible', 'anthropic'] as const)(
    'never overflows, and what was left out can be read again (%s)',
    async (provider) => {
      const { server, agent, events, said, close } = await connect(
        { contextTokens: 24_000 },
        { provider, contextTokens: 24_000, pieces: 2_000 },
      )
      expect(await agent.send('Read them.')).toBe('finished')
      expect(said()).toBe('All is well.')
      expect(server.faults).toEqual([])
      expect(events.filter(({ type }) => type === 'compacted').length).toBeGreaterThan(0)
      const uses = events.flatMap((event) => (event.type === 'usage' ? [event.context] : []))
      expect(uses.every(({ tokens, limit }) => limit === 24_000 && tokens < 24_000)).toBe(true)
      // The conversation itself stays complete.
      expect(JSON.stringify(agent.conversation.messages)).toContain('first 1\\\\n')
      await close()
    },
  )

  it('has the answer in it as soon as it is there', async () => {
    const answer = 'Word. '.repeat(18_000)
    const { agent, events, close } = await connect(
      { contextTokens: 200_000 },
      {
        pieces: 10_000,
        *script() {
          yield* call('', 'read_file', { path: 'f1.txt' })
          return answer
        },
      },
    )
    expect(await agent.send('Tell me all.')).toBe('finished')
    const use = events.flatMap((event) => (event.type === 'usage' ? [event.context] : [])).at(-1)
    expect(use?.tokens).toBeGreaterThan(answer.length / 6)
    await close()
  })

  it('is learned from a server that refuses a conversation as too long', async () => {
    const { server, agent, events, said, close } = await connect({}, { contextTokens: 24_000, pieces: 2_000 })
    expect(await agent.send('Read them.')).toBe('finished')
    expect(said()).toBe('All is well.')
    expect(events.filter(({ type }) => type === 'error')).toEqual([])
    expect(server.faults).toEqual([])
    await close()
  })

  it('that is too small even for the request alone is said after three tries', async () => {
    const { server, agent, events, close } = await connect({}, { contextTokens: 100 })
    expect(await agent.send('Read them.')).toBe('error')
    expect(events.find(({ type }) => type === 'error')).toMatchObject({
      message: expect.stringContaining('longer than the context'),
    })
    expect(server.requests.length).toBe(4)
    await close()
  })
})

describe('a budget', () => {
  const prices = { read: 10, written: 100 }
  it.each([
    [{ maxTokens: 60_000 }, 'tokens'],
    [{ maxCost: 0.6, prices }, 'cost'],
    [{ maxSteps: 4 }, 'limit'],
  ] as const)('of %j ends the turn before it is exceeded, and a larger one lets it go on', async (limits, reason) => {
    const current: AgentLimits[] = [limits]
    const server = await startModelServer({ script: reading, pieces: 2_000 })
    const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous' })
    const choice = { kind: 'endpoint', provider: 'compatible', baseUrl: server.url, model: 'm' } as const
    const agent = createAgent({ tools: () => workspace, choice, fetch, limits: () => current.at(-1) ?? {} })
    expect(await agent.send('Read them.')).toBe(reason)
    const { inputTokens, outputTokens, cost = 0, steps } = agent.conversation.usage
    expect(steps).toBeGreaterThan(2)
    if (reason === 'tokens') expect(inputTokens + outputTokens).toBeLessThanOrEqual(60_000)
    if (reason === 'cost') expect(cost).toBeLessThanOrEqual(0.6)
    if (reason === 'limit') expect(steps).toBe(4)
    else {
      // Without another step.
      expect(await agent.resume()).toBe(reason)
      expect(agent.conversation.usage.steps).toBe(steps)
    }
    current.push({})
    expect(await agent.resume()).toBe('finished')
    await server.close()
    await workspace.close()
  })
})
