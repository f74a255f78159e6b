import { describe, expect, it } from 'vitest'
import { createWorkspace } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { commentsInWords } from 'wardspace/ui'
import { createAgent } from '../../../playground/agent/create-agent.ts'
import { scenarioById } from '../../../playground/agent/scenarios/index.ts'
import type { AgentEvent, AgentOptions, Conversation } from '../../../playground/agent/types.ts'
import { isLong } from '../../counts.ts'
import { filesOf } from './setup.ts'

const { prompt, sample } = scenarioById('explore-and-explain')

/** Opens the shortest scenario with a fixed clock and ids. */
async function open(options: Partial<AgentOptions> = {}) {
  let ids = 0
  const workspace = await createWorkspace({
    backend: memory(await filesOf(sample)),
    policy: 'autonomous',
    clock: () => 0,
    ids: () => `id-${++ids}`,
  })
  const events: AgentEvent[] = []
  const agent = createAgent({
    tools: () => workspace,
    choice: { kind: 'scripted', scenario: 'explore-and-explain' },
    ...options,
    onEvent: (event) => {
      events.push(event)
      options.onEvent?.(event)
    },
  })
  const said = () => events.flatMap((event) => (event.type === 'text' ? [event.delta] : [])).join('')
  return { workspace, agent, events, said }
}

const answer = 'Nobody else asks for it.'
const withoutTime = ({ messages, usage: { ms, ...usage } }: Conversation) => ({ messages, usage })

describe('the scripted model', () => {
  it.each([1, 2])('says that it cannot read comments on the changes, of %i', async (count) => {
    const { agent, events, said } = await open()
    const comment = { path: 'a.js', side: 'after', from: 1, to: 1, quote: 'a', text: 'Why?' } as const
    const comments = Array.from({ length: count }, () => comment)
    expect(await agent.send(commentsInWords(comments, (_, text) => text))).toBe('finished')
    expect(said()).toContain('cannot read comments')
    expect(said()).toContain('a model of your own')
    expect(events.filter(({ type }) => type === 'call')).toEqual([])
  })
})

describe('the events of a turn', () => {
  it('arrive in order: text, then each call, then its result', async () => {
    const { agent, events } = await open()
    expect(await agent.send(prompt)).toBe('finished')
    const steps = events
      .map(({ type }) => type)
      .filter((type) => type !== 'conversation')
      .join(' ')
      .replaceAll(/text( text)*/g, 'words')
    const one = 'step words call result usage'
    const [first, ...rest] = steps.split('step ').filter((part) => part !== '')
    expect(`step ${first?.trim()}`).toBe(one)
    expect(rest[2]).toMatch(/^words (call call result result|call result call result) usage $/)
    expect(rest.at(-1)).toBe('words usage done')
    const calls = events.flatMap((event) => (event.type === 'call' ? [event.id] : []))
    const results = events.flatMap((event) => (event.type === 'result' ? [event.id] : []))
    expect(calls).toEqual(['call-1', 'call-2', 'call-3', 'call-4', 'call-5', 'call-6'])
    expect([...results].sort()).toEqual(calls)
  })

  it('contain results exactly as the model sees them', async () => {
    const { agent, events } = await open()
    await agent.send(prompt)
    const outputs = agent.conversation.messages.flatMap(({ role, content }) =>
      role === 'tool'
        ? content.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, part.output]] : []))
        : [],
    )
    const reports = events.flatMap((event) =>
      event.type === 'result' ? [[event.id, { type: event.ok ? 'json' : 'error-json', value: event.seen }]] : [],
    )
    expect(new Map(reports as [string, unknown][])).toEqual(new Map(outputs as [string, unknown][]))
  })

  it('count tokens and time of each step and in total', async () => {
    const { agent, events } = await open()
    await agent.send(prompt)
    const steps = events.filter((event) => event.type === 'usage')
    expect(steps.length).toBe(6)
    expect(steps.at(-1)?.total).toEqual(agent.conversation.usage)
    const sum = steps.reduce((all, { inputTokens }) => all + inputTokens, 0)
    expect(agent.conversation.usage.inputTokens).toBe(sum)
    expect(sum).toBeGreaterThan(1000)
  })

  it('are the same every time', async () => {
    const [one, two] = [await open(), await open()]
    await one.agent.send(prompt)
    await two.agent.send(prompt)
    expect(withoutTime(one.agent.conversation)).toEqual(withoutTime(two.agent.conversation))
  })
})

describe('step by step', () => {
  it('pauses after each step and reaches the same result', async () => {
    const { agent, said } = await open()
    const reasons = [await agent.send(prompt, { stepwise: true })]
    while (agent.canContinue && reasons.length < 20) reasons.push(await agent.next())
    expect(reasons).toEqual(['paused', 'paused', 'paused', 'paused', 'paused', 'finished'])
    const whole = await open()
    await whole.agent.send(prompt)
    expect(withoutTime(agent.conversation)).toEqual(withoutTime(whole.agent.conversation))
    expect(said()).toContain(answer)
  })

  it('continues automatically from any step', async () => {
    const { agent } = await open({ limits: () => ({ maxSteps: 2 }) })
    expect(await agent.send(prompt)).toBe('limit')
    expect(await agent.next()).toBe('paused')
    expect(await agent.resume()).toBe('limit')
    expect(await agent.resume()).toBe('finished')
    await expect(agent.resume()).rejects.toThrow('nothing to continue')
  })
})

describe('stop', () => {
  it('interrupts a call, shows that to the model, and lets the turn continue', async () => {
    const workspace = (await open()).workspace
    let reached: (() => void) | undefined
    const isReached = new Promise<void>((resolve) => {
      reached = resolve
    })
    let isSlow = true
    const { agent, events, said } = await open({
      tools: () => ({
        tools: workspace.tools,
        async callTool(name, input, options) {
          if (isSlow) {
            isSlow = false
            reached?.()
            await new Promise((resolve) => options?.signal?.addEventListener('abort', resolve))
          }
          return workspace.callTool(name, input, options)
        },
      }),
    })
    const turn = agent.send(prompt)
    await isReached
    expect(agent.isWorking).toBe(true)
    await expect(agent.send('more')).rejects.toThrow('is working')
    await agent.stop()
    expect(await turn).toBe('stopped')
    expect(agent.conversation.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ output: { type: 'error-json', value: { code: 'ABORTED' } } }],
    })
    expect(events.at(-1)).toEqual({ type: 'done', reason: 'stopped' })
    // The script sees the interruption, like any model, and repeats the call.
    expect(await agent.resume()).toBe('finished')
    expect(said()).toContain('That was interrupted, so once more.')
    expect(said()).toContain(answer)
  })

  it('waits for a commit that has begun, and keeps its result', async () => {
    const { workspace } = await open()
    let hold: (() => void) | undefined
    const { agent, events } = await open({
      tools: () => ({
        tools: workspace.tools,
        async callTool(name, input, options) {
          const result = await workspace.callTool(name, input)
          const isStopped = new Promise((resolve) => options?.signal?.addEventListener('abort', resolve))
          hold?.()
          await isStopped
          return result
        },
      }),
    })
    const isHeld = new Promise<void>((resolve) => {
      hold = resolve
    })
    const turn = agent.send(prompt)
    await isHeld
    await agent.stop()
    expect(await turn).toBe('stopped')
    expect(events.filter(({ type }) => type === 'result')).toMatchObject([{ ok: true, tool: 'list_directory' }])
    expect(agent.conversation.messages.at(-1)).toMatchObject({ content: [{ output: { value: { ok: true } } }] })
  })

  it('during text lets the step be repeated', async () => {
    const { agent, events, said } = await open({ pace: 1 })
    const turn = agent.send(prompt)
    while (!events.some(({ type }) => type === 'text')) await new Promise((resolve) => setImmediate(resolve))
    await agent.stop()
    expect(await turn).toBe('stopped')
    expect(agent.conversation.messages.map(({ role }) => role)).toEqual(['user'])
    expect(await agent.resume()).toBe('finished')
    expect(said()).toContain(answer)
  })
})

describe('a conversation', () => {
  it.runIf(isLong)('continues after a reload at any moment, even during a step', async () => {
    const pieces: string[] = []
    const { agent } = await open({ onEvent: () => pieces.push(JSON.stringify(agent?.conversation)) })
    await agent.send(prompt)
    const different = [...new Set(pieces)]
    expect(different.length).toBeGreaterThan(10)
    for (const text of different) {
      const { agent: again, workspace } = await open({ conversation: JSON.parse(text) })
      if (again.canContinue) expect(await again.resume()).toBe('finished')
      expect(JSON.stringify(again.conversation.messages.at(-1))).toContain(answer)
      expect(openCalls(again.conversation)).toEqual([])
      await workspace.close()
    }
    expect(different.some((text) => text.includes('interrupted'))).toBe(true)
  })

  it('retries from the user’s last message, with new call ids', async () => {
    const { agent, events, said } = await open()
    await agent.send(prompt)
    const before = agent.conversation.messages.length
    expect(await agent.retry()).toBe('finished')
    expect(agent.conversation.messages.length).toBe(before)
    const ids = events.flatMap((event) => (event.type === 'call' ? [event.id] : []))
    expect(new Set(ids).size).toBe(12)
    expect(said().split(answer).length).toBe(3)
  })

  it('accepts another message of the user', async () => {
    const { agent, said } = await open()
    await agent.send(prompt)
    expect(await agent.send('Once more, please.')).toBe('finished')
    expect(said().split(answer).length).toBe(3)
    expect(agent.conversation.messages.filter(({ role }) => role === 'user').length).toBe(2)
  })
})

describe('an error of the model', () => {
  it('is reported and can be retried', async () => {
    const { agent, events } = await open({ choice: { kind: 'scripted', scenario: 'no-such-scenario' } })
    expect(await agent.send(prompt)).toBe('error')
    expect(events.find(({ type }) => type === 'error')).toMatchObject({
      message: 'There is no scenario "no-such-scenario"',
    })
    expect(agent.canContinue).toBe(true)
    expect(await agent.resume()).toBe('error')
  })
})

/** Returns the calls without a result. */
function openCalls({ messages }: Conversation): string[] {
  const parts = messages.flatMap(({ role, content }) =>
    typeof content === 'string' || role === 'user' ? [] : [...content],
  )
  const answered = new Set(parts.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])))
  return parts.flatMap((part) => (part.type === 'tool-call' && !answered.has(part.toolCallId) ? [part.toolCallId] : []))
}
