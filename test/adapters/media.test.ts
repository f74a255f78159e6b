import { createAnthropic } from '@ai-sdk/anthropic'
import { InMemoryTransport, Client as ModernClient } from '@modelcontextprotocol/client'
import { generateText, stepCountIs } from 'ai'
import { describe, expect, it } from 'vitest'
import { aiSdkTools } from '../../src/adapters/ai-sdk/index.ts'
import {
  anthropicTools,
  geminiTools,
  llamaIndexTools,
  openAiChatTools,
  openAiTools,
} from '../../src/adapters/json-schema/index.ts'
import { langchainTools } from '../../src/adapters/langchain/index.ts'
import { mastraTools } from '../../src/adapters/mastra/index.ts'
import { createMcpServer } from '../../src/adapters/mcp/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { anthropic } from '../../src/dialects/anthropic/index.ts'
import { deepagents } from '../../src/dialects/deepagents/index.ts'
import { gemini } from '../../src/dialects/gemini/index.ts'
import { mastra } from '../../src/dialects/mastra/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import type { Dialect } from '../../src/dialects/runtime/types.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/index.ts'
import { gif, pdf, png } from '../media.ts'
import { connect } from './mcp-client.ts'

const files = { 'img/a.png': png(3, 2), 'b.pdf': pdf('Hello'), 'c.gif': gif(2, 2), 'd.bin': 'a\0b', 'e.txt': 'text\n' }
const A = Buffer.from(files['img/a.png']).toString('base64')
const B = Buffer.from(files['b.pdf']).toString('base64')
const summaryOfA = /^Read img\/a.png: image\/png, 3 x 2 pixels, 68 bytes\nsha256: [0-9a-f]{8}$/
const summaryOfB = /^Read b.pdf: application\/pdf, \d+ bytes\nsha256: [0-9a-f]{8}$/

const open = (options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous', ...options })

describe('media in the form of', () => {
  it('Anthropic', async () => {
    const { tools, call } = anthropicTools(await open(), { media: true })
    const read = async (path: string) => (await call({ id: 't', name: 'read_file', input: { path } })).content
    const text = (pattern: RegExp) => ({ type: 'text', text: expect.stringMatching(pattern) })
    expect(await read('img/a.png')).toEqual([
      text(summaryOfA),
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: A } },
    ])
    expect(await read('b.pdf')).toEqual([
      text(summaryOfB),
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: B }, title: 'b.pdf' },
    ])
    expect(await read('d.bin')).toMatch(/^UNSUPPORTED_BINARY: /)
    const run = tools.find(({ name }) => name === 'read_file')?.run
    expect(await run?.({ path: 'img/a.png' })).toEqual(await read('img/a.png'))
  })

  it('OpenAI Responses and its agents', async () => {
    const { tools, call } = openAiTools(await open(), { media: true })
    const read = async (path: string) => {
      const item = await call({ call_id: 'c', name: 'read_file', arguments: JSON.stringify({ path }) })
      return item.output
    }
    const url = `data:image/png;base64,${A}`
    expect(await read('img/a.png')).toEqual([
      { type: 'input_text', text: expect.stringMatching(summaryOfA) },
      { type: 'input_image', image_url: url, detail: 'auto' },
    ])
    expect(await read('b.pdf')).toEqual([
      { type: 'input_text', text: expect.stringMatching(summaryOfB) },
      { type: 'input_file', filename: 'b.pdf', file_data: `data:application/pdf;base64,${B}` },
    ])
    // The API takes no animations.
    expect(await read('c.gif')).toMatch(/^UNSUPPORTED_BINARY: /)
    const invoke = tools.find(({ name }) => name === 'read_file')?.invoke
    expect(await invoke?.(undefined, '{"path":"img/a.png"}')).toEqual([
      { type: 'text', text: expect.stringMatching(summaryOfA) },
      { type: 'image', image: { data: A, mediaType: 'image/png' } },
    ])
    expect(await invoke?.(undefined, '{"path":"b.pdf"}')).toMatchObject([
      {},
      { type: 'file', file: { data: B, mediaType: 'application/pdf', filename: 'b.pdf' } },
    ])
  })

  it('OpenAI Agents that approve the call themselves', async () => {
    const workspace = await open({ policy: { preset: 'supervised', tools: { read_file: 'ask' } } as never })
    const { tools } = openAiTools(workspace, { media: true, approvals: 'framework' })
    const read = tools.find(({ name }) => name === 'read_file')
    const details = { toolCall: { callId: 'c1' } }
    expect(await read?.needsApproval(undefined, { path: 'img/a.png' }, 'c1')).toBe(true)
    expect(await read?.invoke(undefined, '{"path":"img/a.png"}', details)).toMatchObject([{}, { type: 'image' }])
  })

  it('Gemini', async () => {
    const { call } = geminiTools(await open(), { media: true })
    const read = (path: string) => call({ name: 'read_file', args: { path } })
    expect(await read('img/a.png')).toEqual({
      functionResponse: {
        name: 'read_file',
        response: { output: expect.stringMatching(summaryOfA) },
        parts: [{ inlineData: { mimeType: 'image/png', data: A, displayName: 'a.png' } }],
      },
    })
    expect(await read('c.gif')).toMatchObject({ functionResponse: { response: { error: /^UNSUPPORTED_BINARY: / } } })
  })

  it('LangChain', async () => {
    const tool = langchainTools(await open(), { media: true }).find(({ name }) => name === 'read_file')
    const read = (path: string) => tool?.invoke({ type: 'tool_call', id: 'c', name: 'read_file', args: { path } })
    expect(await read('img/a.png')).toMatchObject({
      tool_call_id: 'c',
      content: [{ type: 'text' }, { type: 'image', mimeType: 'image/png', data: A }],
    })
    const file = { type: 'file', mimeType: 'application/pdf', data: B, metadata: { filename: 'b.pdf' } }
    expect(await read('b.pdf')).toMatchObject({ content: [{ type: 'text' }, file], artifact: { ok: true } })
  })

  it('Mastra', async () => {
    const { read_file: tool } = mastraTools(await open(), { media: true, results: 'json' })
    const result = await tool?.execute({ path: 'b.pdf' }, { toolCallId: 'c' })
    expect(tool?.toModelOutput(result as never)).toEqual({
      type: 'content',
      value: [
        { type: 'text', text: expect.stringMatching(summaryOfB) },
        { type: 'media', data: B, mediaType: 'application/pdf' },
      ],
    })
  })

  it('the AI SDK, down to the request of the API', async () => {
    const requests: string[] = []
    const usage = { input_tokens: 1, output_tokens: 1 }
    const answers = ['img/a.png', 'b.pdf', undefined].map((path, index) => ({
      ...{ id: `m${index}`, type: 'message', role: 'assistant', model: 'scripted', usage, stop_sequence: null },
      stop_reason: path === undefined ? 'end_turn' : 'tool_use',
      content: [
        path === undefined
          ? { type: 'text', text: 'Done.' }
          : { type: 'tool_use', id: `toolu_${index}`, name: 'read_file', input: { path } },
      ],
    }))
    const provider = createAnthropic({
      apiKey: 'none',
      fetch: async (_url, init) => {
        requests.push(String(init?.body))
        return Response.json(answers[requests.length - 1])
      },
    })
    const tools = aiSdkTools(await open(), { media: true })
    await generateText({ model: provider('claude-x'), tools, stopWhen: stepCountIs(3), prompt: 'Look.' })
    const { messages } = JSON.parse(requests[2] ?? '{}') as { messages: { role: string; content: object[] }[] }
    const results = messages.flatMap(({ content }) => content).filter((block) => 'tool_use_id' in block)
    expect(results).toMatchObject([
      { content: [{ type: 'text' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: A } }] },
      { content: [{ type: 'text' }, { type: 'document', source: { media_type: 'application/pdf', data: B } }] },
    ])
  })

  it('the Model Context Protocol, for the clients of both eras', async () => {
    const legacy = (await connect(await open())).client
    const modern = new ModernClient({ name: 'test client', version: '1.0.0' })
    const [here, there] = InMemoryTransport.createLinkedPair()
    await createMcpServer(await open()).connect(there)
    await modern.connect(here)
    for (const client of [legacy, modern]) {
      // The client compares the structured content with the schema of the result.
      await client.listTools()
      const read = (path: string) => client.callTool({ name: 'read_file', arguments: { path } })
      const image = await read('img/a.png')
      expect(image.content).toEqual([
        { type: 'text', text: expect.stringMatching(summaryOfA) },
        { type: 'image', data: A, mimeType: 'image/png' },
      ])
      expect(image.structuredContent).toMatchObject({ media: { type: 'image', width: 3, height: 2 }, content: '' })
      expect(JSON.stringify(image.structuredContent)).not.toContain(A)
      const resource = { uri: 'wardspace://files/b.pdf', mimeType: 'application/pdf', blob: B }
      expect((await read('b.pdf')).content).toMatchObject([{ type: 'text' }, { type: 'resource', resource }])
      expect(await client.readResource({ uri: resource.uri })).toMatchObject({ contents: [resource] })
      expect(await read('d.bin')).toMatchObject({ isError: true })
      await client.close()
    }
  })
})

describe('a model that takes no media', () => {
  it('gets the refusal of a binary file from every adapter', async () => {
    const workspace = await open()
    const refused = /^UNSUPPORTED_BINARY: Cannot read "img\/a.png" as text: it is binary\n/
    const args = { path: 'img/a.png' }
    const json = JSON.stringify(args)
    const name = 'read_file'
    expect((await anthropicTools(workspace).call({ id: 't', name, input: args })).content).toMatch(refused)
    expect((await openAiTools(workspace).call({ call_id: 'c', name, arguments: json })).output).toMatch(refused)
    const chat = await openAiChatTools(workspace).call({ id: 'c', function: { name, arguments: json } })
    expect(chat.content).toMatch(refused)
    const { functionResponse } = await geminiTools(workspace, { media: false }).call({ name, args })
    expect(functionResponse.response).toEqual({ error: expect.stringMatching(refused) })
    expect(await llamaIndexTools(workspace, { tools: [name] })[0]?.call(args)).toMatch(refused)
    const { client } = await connect(workspace, { media: false })
    expect(await client.callTool({ name, arguments: args })).toMatchObject({ isError: true })
    await expect(client.readResource({ uri: 'wardspace://files/b.pdf' })).rejects.toThrow('Cannot read "b.pdf"')
  })

  it('cannot be given what its API does not carry', async () => {
    const workspace = await open()
    expect(() => geminiTools(workspace, { media: ['image/gif'] })).toThrow(/"media\[0\]" of geminiTools\(\)/)
    expect(() => openAiTools(workspace, { media: ['image/gif'] })).toThrow(/"media\[0\]" of openAiTools\(\)/)
    expect(() => openAiChatTools(workspace, { media: true } as never)).toThrow(/"media"/)
  })

  it('gets no media that its own tools return', async () => {
    const media = { type: 'image', mimeType: 'image/png', data: A }
    const callTool = async () => ({ ok: true, summary: 's', warnings: [], callId: 'c', media }) as const
    const own = { tools: (await open()).tools, callTool }
    const call = { id: 't', name: 'read_file', input: {} }
    expect((await anthropicTools(own).call(call)).content).toEqual(expect.any(String))
    expect((await anthropicTools(own, { media: ['image/gif'] }).call(call)).content).toEqual(expect.any(String))
    expect((await anthropicTools(own, { media: true }).call(call)).content).toMatchObject([{}, { type: 'image' }])
  })
})

const dialectReads: readonly (readonly [
  name: string,
  dialect: Dialect,
  tool: string,
  input: (path: string) => object,
])[] = [
  [
    'anthropic',
    anthropic(),
    'str_replace_based_edit_tool',
    (path) => ({ command: 'view', path: `/workspace/${path}` }),
  ],
  ['gemini', gemini(), 'read_file', (path) => ({ file_path: path })],
  ['deepagents', deepagents(), 'read_file', (path) => ({ file_path: `/${path}` })],
  ['mastra', mastra(), 'mastra_workspace_read_file', (path) => ({ path })],
  ['mcp-filesystem', mcpFilesystem(), 'read_media_file', (path) => ({ path: `/workspace/${path}` })],
]

describe.each(dialectReads)('the dialect %s', (_, dialect, tool, input) => {
  const workspace = () => createWorkspace({ backend: memory(files), policy: 'autonomous', dialect })

  it('shows media to a caller that takes them', async () => {
    const session = await workspace()
    const read = (path: string, media = true) => session.call(tool, input(path), { media })
    const image = await read('img/a.png')
    expect(image.content.at(-1)).toEqual({ type: 'image', data: A, mimeType: 'image/png' })
    expect(JSON.stringify(image.output)).not.toContain(A)
    expect((await read('b.pdf')).content.at(-1)).toMatchObject({
      resource: { uri: expect.stringMatching(/b\.pdf$/), mimeType: 'application/pdf', blob: B },
    })
    expect(await read('img/a.png', false)).toMatchObject({ isError: true, failure: { code: 'UNSUPPORTED_BINARY' } })
    expect(await read('d.bin')).toMatchObject({ isError: true, failure: { code: 'UNSUPPORTED_BINARY' } })
    expect(JSON.stringify((await read('e.txt')).content)).toMatch(/text|dGV4dAo=/)
  })

  it('shows them through an adapter', async () => {
    const { call } = anthropicTools(await workspace(), { media: true })
    const { content } = await call({ id: 't', name: tool, input: input('b.pdf') })
    expect(content).toMatchObject([{ type: 'text' }, { type: 'document', title: 'b.pdf' }])
    const { client } = await connect(await workspace())
    await client.listTools()
    const answer = await client.callTool({ name: tool, arguments: input('img/a.png') as Record<string, unknown> })
    expect(answer.content).toContainEqual({ type: 'image', data: A, mimeType: 'image/png' })
  })
})

it('a dialect that shows text alone refuses an image also to a caller that takes it', async () => {
  const session = await createWorkspace({ backend: memory(files), policy: 'autonomous', dialect: mcpFilesystem() })
  const result = await session.call('read_text_file', { path: '/workspace/img/a.png' }, { media: true })
  expect(result).toMatchObject({ isError: true, failure: { code: 'UNSUPPORTED_BINARY' } })
})
