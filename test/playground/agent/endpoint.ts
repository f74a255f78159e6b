import { afterEach, describe, expect, it } from 'vitest'
import { createWorkspace, type PresetName } from 'wardspace'
import { memorySink, reportRuns } from 'wardspace/audit'
import { memory } from 'wardspace/backends/memory'
import { call, calls, type Script } from 'wardspace/testing/scripted-model'
import { createAgent } from '../../../playground/agent/create-agent.ts'
import { scenarioById } from '../../../playground/agent/scenarios/index.ts'
import type { AgentEvent, ModelChoice } from '../../../playground/agent/types.ts'
import { isRefusal } from '../../../src/errors.ts'
import { until } from '../../until.ts'
import { type ModelServer, type ModelServerOptions, startModelServer } from '../model-server.ts'
import { filesOf } from './setup.ts'

const KEY = 'sk-planted/key+4f9a2c81e7-never-kept'
const scenario = scenarioById('explore-and-explain')

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function serve(options: Partial<ModelServerOptions> = {}): Promise<ModelServer> {
  const server = await startModelServer({ script: scenario.script, key: KEY, ...options })
  open.push(server)
  return server
}

type Protocol = 'compatible' | 'anthropic'

function endpoint(baseUrl: string, key = KEY, provider: Protocol = 'compatible'): ModelChoice {
  return { kind: 'endpoint', provider, baseUrl, model: 'a-model', key: () => key }
}

/** Creates an agent with a model at an address, and collects all data that could be stored. */
async function connect(choice: ModelChoice, reach: typeof fetch = fetch, policy: PresetName = 'autonomous') {
  const sink = memorySink()
  const recorded: string[] = []
  const workspace = await createWorkspace({
    backend: memory(await filesOf(scenario.sample)),
    policy,
    audit: sink,
    record: (line) => void recorded.push(JSON.stringify(line)),
  })
  open.push(workspace)
  const events: AgentEvent[] = []
  const agent = createAgent({ tools: () => workspace, choice, fetch: reach, onEvent: (event) => events.push(event) })
  return {
    ...{ workspace, agent, events, sink },
    said: () => events.flatMap((event) => (event.type === 'text' ? [event.delta] : [])).join(''),
    everything: async () =>
      [
        JSON.stringify({ choice, conversation: agent.conversation, events, records: sink.records(), recorded }),
        JSON.stringify(await workspace.call('search_text', { query: 'planted', includeHidden: true })),
      ].join('\n'),
  }
}

describe.each([
  ['OpenAI', 'compatible'],
  ['Anthropic', 'anthropic'],
] as const)('a model at an address with the protocol of %s', (_, protocol) => {
  const endpointOf = (url: string) => endpoint(url, KEY, protocol)

  it('streams, calls tools, and reaches the same result as the script', async () => {
    const server = await serve()
    const { agent, said, events } = await connect(endpointOf(server.url))
    expect(await agent.send(scenario.prompt)).toBe('finished')
    expect(server.faults).toEqual([])
    expect(server.requests.length + server.messagesRequests.length).toBe(6)
    const chatTools = server.requests[0]?.tools?.map(({ function: { name } }) => name)
    expect(chatTools ?? server.messagesRequests[0]?.tools?.map(({ name }) => name)).toContain('apply_patch')
    expect(said()).toContain("- `src/alarm.js:8` `if (degrees < LIMITS.cold) return 'cold'`")
    expect(events.filter(({ type }) => type === 'text').length).toBeGreaterThan(20)
    expect(agent.conversation.usage.inputTokens).toBeGreaterThan(1000)
    expect(agent.conversation.usage.outputTokens).toBeGreaterThan(100)
  })

  it.each([
    ['a tool that does not exist', 'launch_rocket', undefined],
    ['a tool, with an input that is not JSON', 'read_file', 'garble'],
  ] as const)('is stopped when it calls %s again and again', async (_kind, tool, fault) => {
    const server = await serve({
      *script() {
        for (let i = 0; i < 12; i++) yield* calls('', { name: tool, input: { path: 'README.md' } })
        return 'Never reached.'
      },
    })
    if (fault !== undefined) server.misbehave(...Array.from({ length: 12 }, () => fault))
    const { agent, said } = await connect(endpointOf(server.url))
    expect(await agent.send(scenario.prompt)).toBe('repeated')
    expect(server.requests.length + server.messagesRequests.length).toBe(3)
    expect(said()).not.toContain('Never')
    expect(server.faults).toEqual([])
  })

  it('has an id for each call, also if each of its answers numbers the calls anew', async () => {
    const server = await serve({
      idPrefix: 'c',
      *script(request) {
        yield* calls('', ...['README.md', 'package.json'].map((path) => ({ name: 'read_file', input: { path } })))
        yield* calls('', { name: 'read_file', input: { path: request.includes('Again') ? 'none.md' : '.env' } })
        return 'Read.'
      },
    })
    const { agent, events } = await connect(endpointOf(server.url))
    for (const text of ['Read them.', 'Again.']) expect(await agent.send(text)).toBe('finished')
    expect(server.faults).toEqual([])
    const begun = events.flatMap((event) => (event.type === 'call' ? [[event.id, event.input]] : []))
    expect(begun.map(([, input]) => (input as { path: string }).path)).toEqual([
      ...['README.md', 'package.json', '.env', 'README.md', 'package.json', 'none.md'],
    ])
    expect(new Set(begun.map(([id]) => id)).size).toBe(6)
    expect(begun[0]?.[0]).toBe('c0')
    const results = events.flatMap((event) => (event.type === 'result' ? [[event.id, event.ok]] : []))
    expect(new Map(results as [string, boolean][])).toEqual(
      new Map(begun.map(([id], at) => [id as string, ![2, 5].includes(at)])),
    )
  })

  it('gets a PDF document in the form of its protocol', async () => {
    const server = await serve({
      // biome-ignore lint/correctness/useYield: a script without calls
      *script() {
        return 'Read.'
      },
    })
    const { agent } = await connect(endpointOf(server.url))
    const data = 'JVBERi0xLjQK'
    const document = { data: `data:application/pdf;base64,${data}`, mediaType: 'application/pdf', filename: 'a.pdf' }
    const text = { type: 'text', text: 'Read it.' } as const
    expect(await agent.send([text, { type: 'file', ...document }])).toBe('finished')
    expect(server.faults).toEqual([])
    const { content } = [...server.requests, ...server.messagesRequests][0]?.messages.at(-1) ?? {}
    const source = { type: 'base64', media_type: 'application/pdf', data }
    expect(content?.at(1)).toMatchObject(
      protocol === 'anthropic'
        ? { type: 'document', source, title: 'a.pdf' }
        : { type: 'file', file: { filename: 'a.pdf', file_data: document.data } },
    )
  })

  it('sees refusals and errors for unknown tools and invalid input', async () => {
    const results: unknown[] = []
    const server = await serve({
      *script() {
        results.push(...(yield* calls('', { name: 'read_file', input: { path: '../x' } })))
        results.push(...(yield* calls('', { name: 'format_disk', input: {} })))
        results.push(...(yield* calls('', { name: 'read_file', input: { file: 'README.md' } })))
        return 'Enough.'
      },
    })
    const { agent, said } = await connect(endpointOf(server.url))
    expect(await agent.send('Go.')).toBe('finished')
    expect(server.faults).toEqual([])
    expect(results.slice(-3)).toMatchObject([
      { code: 'PATH_REJECTED' },
      { message: expect.stringContaining('format_disk') },
      { code: 'INVALID_INPUT' },
    ])
    expect(said()).toBe('Enough.')
  })

  it('is refused each tool that the policy hides, and the refusals are recorded', async () => {
    const { workspace } = await connect(endpointOf('http://127.0.0.1:1/v1'))
    const called = workspace.tools.map(({ name }) => ({ name, input: {} }))
    const server = await serve({
      *script() {
        yield* calls('', ...called)
        return 'Enough.'
      },
    })
    const { agent, events, sink, ...readOnly } = await connect(endpointOf(server.url), fetch, 'readOnly')
    const offered = readOnly.workspace.tools.map(({ name }) => name)
    const hidden = called.map(({ name }) => name).filter((name) => !offered.includes(name))
    expect(hidden).toContain('write_file')
    expect(await agent.send('Go.')).toBe('finished')
    const results = events.flatMap((event) => (event.type === 'result' ? [event] : []))
    expect(results.filter(isRefusal).map(({ tool }) => tool)).toEqual(hidden)
    expect(reportRuns(sink.records()).map((report) => report.forbidden.map(({ tool }) => tool))).toEqual([hidden])
    const told = [...server.requests, ...server.messagesRequests].map(({ tools = [] }) => tools.length)
    expect(told).toEqual([offered.length, offered.length])
    expect(server.faults).toEqual([])
  })

  it('continues after an error about a call that is not JSON', async () => {
    const server = await serve({
      *script() {
        const [first] = yield* calls('', { name: 'read_file', input: { path: 'README.md' } })
        const [second] = yield* calls('', { name: 'read_file', input: { path: 'README.md' } })
        return `${first?.ok}, ${second?.ok}`
      },
    })
    server.misbehave('garble')
    const { agent, said, events } = await connect(endpointOf(server.url))
    expect(await agent.send('Go.')).toBe('finished')
    expect(said()).toBe('false, true')
    expect(events.filter(({ type }) => type === 'result')).toMatchObject([{ ok: false }, { ok: true }])
    expect(server.faults).toEqual([])
  })

  it.each(['cut', 'end'] as const)(
    'is not asked again when its answer ends in the input of a call by %s',
    async (how) => {
      const server = await serve({
        *script() {
          yield* calls('', { name: 'read_file', input: { path: 'a-path-that-is-longer-than-one-piece.md' } })
          return 'Never asked.'
        },
      })
      server.misbehave(how, how, how)
      const { agent, events } = await connect(endpointOf(server.url))
      const reason = how === 'cut' ? 'cut' : protocol === 'anthropic' ? 'early' : 'error'
      expect(await agent.send('Go.')).toBe(reason)
      expect(server.requests.length + server.messagesRequests.length).toBe(1)
      expect(events.filter(({ type }) => type === 'result')).toEqual([])
      const errors = events.flatMap((event) => (event.type === 'error' ? [event.hasBegun] : []))
      expect(errors).toEqual(reason === 'error' ? [true] : [])
      // The conversation is one that servers take.
      await agent.resume()
      expect(server.faults).toEqual([])
    },
  )

  it('can be stopped during its text', async () => {
    const server = await serve()
    server.misbehave('hang')
    const { agent, events } = await connect(endpointOf(server.url))
    const turn = agent.send(scenario.prompt)
    await until('the first text', () => events.some(({ type }) => type === 'text'))
    await agent.stop()
    expect(await turn).toBe('stopped')
    expect(await agent.resume()).toBe('finished')
    expect(server.faults).toEqual([])
  })

  it('gets its request again after it closes the connection during its text', async () => {
    const server = await serve()
    server.misbehave('drop')
    const { agent, events, said } = await connect(endpointOf(server.url))
    expect(await agent.send(scenario.prompt)).toBe('error')
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ canRetry: true })
    expect(agent.canContinue).toBe(true)
    expect(await agent.resume()).toBe('finished')
    expect(said()).toContain('Nobody else asks for it.')
    expect(server.faults).toEqual([])
  })
})

describe('the key', () => {
  it('is in no data that could be stored, even if the server repeats it', async () => {
    const leaky: Script = function* () {
      const file = yield* call(`Your key is ${KEY}, isn’t it?`, 'read_file', { path: KEY })
      yield* call('I write it down.', 'write_file', { path: 'key.txt', content: `${KEY}\n`, expectedSha256: null })
      return `${file.ok}: ${KEY.slice(0, 12)} is a part of ${KEY}${KEY} and of ${encodeURIComponent(KEY)}. ${KEY.slice(0, 9)}`
    }
    for (const pieces of [1, 1000]) {
      const server = await serve({ script: leaky, pieces })
      const { agent, everything, said } = await connect(endpoint(server.url))
      expect(await agent.send('Which key?')).toBe('finished')
      const stored = await everything()
      expect(stored).not.toContain(KEY)
      expect(stored).not.toContain(encodeURIComponent(KEY))
      expect(said()).toBe(
        `Your key is [the key], isn’t it?I write it down.false: ${KEY.slice(0, 12)} is a part of [the key][the key] and of [the key]. ${KEY.slice(0, 9)}`,
      )
      expect(server.requests.length).toBe(3)
    }
  })

  it('is in no error, even if the server repeats it', async () => {
    const server = await serve()
    const wrong = await connect(endpoint(server.url, `${KEY}-wrong`))
    expect(await wrong.agent.send(scenario.prompt)).toBe('error')
    expect(wrong.events.find(({ type }) => type === 'error')).toEqual({
      type: 'error',
      message: '401: Incorrect API key provided: [the key].',
      canRetry: false,
      hasBegun: false,
    })
    expect(await wrong.everything()).not.toContain(KEY)

    server.misbehave(400)
    const right = await connect(endpoint(server.url))
    expect(await right.agent.send(scenario.prompt)).toBe('error')
    expect(await right.everything()).toContain('Out of order; asked with Bearer [the key]')
    expect(await right.everything()).not.toContain(KEY)
  })

  it('is sent with its request and to no other address', async () => {
    const server = await serve()
    const questions: Request[] = []
    const reach: typeof fetch = (input, init) => {
      questions.push(new Request(input, init))
      return fetch(input, init)
    }
    const { agent } = await connect(endpoint(server.url), reach)
    await agent.send(scenario.prompt)
    expect(new Set(questions.map(({ url }) => url))).toEqual(new Set([`${server.url}/chat/completions`]))
    expect(questions.every(({ headers }) => headers.get('authorization') === `Bearer ${KEY}`)).toBe(true)
    expect(questions.every(({ headers }) => !headers.has('user-agent'))).toBe(true)
  })
})

describe('an address', () => {
  it.each([
    [{ baseUrl: 'not an address' }, /is not an address/],
    [{ baseUrl: 'ftp://example.com/v1' }, /https: or http:/],
    [{ baseUrl: 'http://user:secret@127.0.0.1:1/v1' }, /must not contain a password/],
    [{ provider: 'openai' }, /OpenAI requires a key/],
    [{ provider: 'anthropic' }, /Anthropic requires a key/],
    [{ baseUrl: 'http://127.0.0.1:1/v1', model: ' ' }, /Name the model/],
  ] as const)('is reported as invalid: %j', async (part, message) => {
    const { agent, events } = await connect({ kind: 'endpoint', provider: 'compatible', model: 'm', ...part })
    expect(await agent.send('Go.')).toBe('error')
    const error = events.find((event) => event.type === 'error')
    expect(error?.message).toMatch(message)
    expect(JSON.stringify(events)).not.toContain('secret@')
  })

  it('without a server is an error', async () => {
    const server = await startModelServer({ script: scenario.script })
    await server.close()
    const { agent, events } = await connect(endpoint(server.url))
    expect(await agent.send('Go.')).toBe('error')
    expect(events.find(({ type }) => type === 'error')).toMatchObject({ canRetry: true })
  })
})

describe('Anthropic', () => {
  it('is reached at its own address with the header for pages', async () => {
    const requests: Request[] = []
    const events = [
      {
        type: 'message_start',
        message: {
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: 'c',
          content: [],
          usage: { input_tokens: 9, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `Hello, ${KEY}.` } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    ]
    const reach: typeof fetch = async (input, init) => {
      requests.push(new Request(input, init))
      const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }
    const { agent, said } = await connect(
      { kind: 'endpoint', provider: 'anthropic', model: 'claude', key: () => KEY },
      reach,
    )
    expect(await agent.send('Hello?')).toBe('finished')
    expect(said()).toBe('Hello, [the key].')
    expect(requests.map(({ url }) => url)).toEqual(['https://api.anthropic.com/v1/messages'])
    expect(requests[0]?.headers.get('x-api-key')).toBe(KEY)
    expect(requests[0]?.headers.get('anthropic-dangerous-direct-browser-access')).toBe('true')
    const [first] = await Promise.all(requests.map((request) => request.json()))
    const { tools } = first as { tools: { name: string; input_schema: object }[] }
    expect(tools.find(({ name }) => name === 'read_file')?.input_schema).toMatchObject({
      type: 'object',
      required: ['path'],
    })
  })
})
