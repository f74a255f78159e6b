import { generateText, type LanguageModel, type ModelMessage, stepCountIs, streamText } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { aiSdkTools } from '../../src/adapters/ai-sdk/index.ts'
import { modelTools, toModelText } from '../../src/adapters/json-schema/index.ts'
import { memorySink } from '../../src/audit/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import type { Dialect } from '../../src/dialects/runtime/types.ts'
import { snakeCase } from '../../src/dialects/snake-case/index.ts'
import { type AuditRecord, createWorkspace, type WorkspaceOptions } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { dialect } from './dialect-of-data.ts'

const files = { 'src/app.ts': 'export const answer = 41\n', '.env': 'PASSWORD=never-shown\n' }

const open = (options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous', ...options })

/** Returns the SDK's own mock model, which makes one call and then ends its turn. */
function calling(toolName: string, input: unknown, toolCallId = 'c1'): MockLanguageModelV3 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  }
  return new MockLanguageModelV3({
    doGenerate: [
      {
        content: [{ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) }],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      },
      {
        content: [{ type: 'text', text: 'Done.' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      },
    ],
  })
}

/** Returns the result of the call as the model receives it. */
function lastPrompt(model: MockLanguageModelV3) {
  const last = model.doGenerateCalls.at(-1)?.prompt.at(-1)
  const part = last?.role === 'tool' ? last.content[0] : undefined
  return part?.type === 'tool-result' ? part.output : undefined
}

/** Returns a schema as the SDK sends it, with `additionalProperties: false` in each object. */
function closed(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { properties, items } = schema as Record<'properties' | 'items', Record<string, never> | undefined>
  const inner = Object.entries(properties ?? {}).map(([name, property]) => [name, closed(property)])
  return {
    ...schema,
    ...(items && { items: closed(items) }),
    ...(schema.type === 'object' &&
      properties && { properties: Object.fromEntries(inner), additionalProperties: false }),
  }
}

describe('aiSdkTools', () => {
  it('passes the definitions of modelTools to the model unchanged', async () => {
    const workspace = await open({ shell: bash() })
    const model = calling('read_file', { path: 'src/app.ts' })
    await generateText({ model, tools: aiSdkTools(workspace), prompt: 'Go.' })
    const offered = model.doGenerateCalls[0]?.tools ?? []
    expect(offered).toEqual(
      modelTools(workspace.tools).map(({ name, description, inputSchema }) => ({
        type: 'function',
        name,
        description,
        inputSchema: closed(inputSchema),
      })),
    )
    expect(offered.length).toBeGreaterThan(15)
    await workspace.close()
  })

  it('shows the text of the result to the model, and returns the complete result to the program', async () => {
    const workspace = await open()
    const model = calling('read_file', { path: 'src/app.ts' })
    const { steps } = await generateText({
      model,
      tools: aiSdkTools(workspace),
      stopWhen: stepCountIs(5),
      prompt: 'Go.',
    })
    const direct = await workspace.call('read_file', { path: 'src/app.ts' })
    expect(lastPrompt(model)).toEqual({ type: 'text', value: toModelText('read_file', direct) })
    const { callId, ...fields } = direct as typeof direct & { callId: string }
    expect(steps[0]?.toolResults[0]?.output).toEqual({ ...fields, callId: expect.any(String) })
  })

  it('shows the complete result as JSON on request', async () => {
    const workspace = await open()
    const model = calling('read_file', { path: 'src/app.ts' })
    const { text, steps } = await generateText({
      model,
      tools: aiSdkTools(workspace, { results: 'json' }),
      stopWhen: stepCountIs(5),
      prompt: 'Go.',
    })
    const direct = await workspace.call('read_file', { path: 'src/app.ts' })
    const { callId, ...fields } = direct as typeof direct & { callId: string }
    expect(lastPrompt(model)).toEqual({ type: 'json', value: { ...fields, callId: expect.any(String) } })
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ ok: true, content: files['src/app.ts'] })
    expect(text).toBe('Done.')
  })

  it.each([
    ['a refusal', 'read_file', { path: '.env' }, 'POLICY_DENIED_SECRET'],
    ['a path outside', 'read_file', { path: '../x' }, 'PATH_REJECTED'],
    ['a wrong input', 'read_file', { path: 7, colour: 'red' }, 'INVALID_INPUT'],
  ])('shows %s to the model as an error, without an exception', async (_, name, input, code) => {
    const sink = memorySink()
    const workspace = await open({ audit: sink })
    const model = calling(name, input)
    await generateText({ model, tools: aiSdkTools(workspace), stopWhen: stepCountIs(5), prompt: 'Go.' })
    expect(lastPrompt(model)).toEqual({ type: 'error-text', value: expect.stringContaining(`${code}: `) })
    const asJson = calling(name, input)
    await generateText({
      model: asJson,
      tools: aiSdkTools(workspace, { results: 'json' }),
      stopWhen: stepCountIs(5),
      prompt: 'Go.',
    })
    expect(lastPrompt(asJson)).toMatchObject({
      type: 'error-json',
      value: { ok: false, code, hint: expect.any(String) },
    })
    expect(JSON.stringify(model.doGenerateCalls)).not.toContain('never-shown')
    expect(sink.records().some((record: AuditRecord) => record.code === code)).toBe(true)
  })

  it.each(['text', 'json'] as const)('uses the dialect of the workspace: %s', async (results) => {
    const dialectWorkspace = await createWorkspace({ backend: memory(files), policy: 'autonomous', dialect })
    const show = async (path: string) => {
      const model = calling('show', { path })
      await generateText({
        model,
        tools: aiSdkTools(dialectWorkspace, { results }),
        stopWhen: stepCountIs(3),
        prompt: 'Go.',
      })
      return lastPrompt(model)
    }
    const value = { text: files['src/app.ts'] }
    expect(await show('/workspace/src/app.ts')).toEqual(
      results === 'json' ? { type: 'json', value } : { type: 'text', value: JSON.stringify(value) },
    )
    expect(await show('/workspace/.env')).toEqual({ type: 'error-text', value: 'No: POLICY_DENIED_SECRET' })
  })

  it('cancels the call on abort, so that it changes nothing', async () => {
    const workspace = await open({ shell: bash() })
    const stop = new AbortController()
    const execute = aiSdkTools(workspace).run_command?.execute
    const running = execute?.(
      { command: 'echo x > made.txt; while true; do :; done' },
      { toolCallId: 'c', messages: [] as ModelMessage[], abortSignal: stop.signal },
    )
    stop.abort()
    expect(await running).toMatchObject({ ok: false, code: 'ABORTED' })
    expect(await workspace.call('file_info', { path: 'made.txt' })).toMatchObject({ code: 'NOT_FOUND' })
    await workspace.close()
  })

  it('uses the given run and records the id of the SDK’s call in the audit', async () => {
    const sink = memorySink()
    const workspace = await open({ audit: sink })
    const run = workspace.run({ id: 'second', actor: 'reviewer' })
    const model = calling('read_file', { path: 'src/app.ts' }, 'call-of-the-sdk')
    await generateText({ model, tools: aiSdkTools(workspace, { run }), prompt: 'Go.' })
    expect(sink.records().filter(({ runId }) => runId === 'second')).toMatchObject([
      { toolName: 'read_file', phase: 'intent', actor: 'reviewer', stepId: 'call-of-the-sdk' },
      { toolName: 'read_file', phase: 'outcome', actor: 'reviewer', stepId: 'call-of-the-sdk' },
    ])
  })

  it('uses its own approve if the workspace has none', async () => {
    const workspace = await open({ policy: 'supervised' })
    const input = { path: 'new.txt', content: 'x\n', expectedSha256: null }
    const refused = calling('write_file', input)
    await generateText({
      model: refused,
      tools: aiSdkTools(workspace, { approve: () => ({ deny: 'not today' }) }),
      stopWhen: stepCountIs(3),
      prompt: 'Go.',
    })
    expect(lastPrompt(refused)).toMatchObject({ value: expect.stringContaining('APPROVAL_DENIED') })
    expect(JSON.stringify(lastPrompt(refused))).toContain('not today')
    const allowed = calling('write_file', input)
    await generateText({
      model: allowed,
      tools: aiSdkTools(workspace, { approve: () => 'allow' }),
      stopWhen: stepCountIs(3),
      prompt: 'Go.',
    })
    expect(lastPrompt(allowed)).toMatchObject({ type: 'text', value: expect.stringContaining('Created new.txt') })
  })

  it('returns only the requested tools, and refuses an unknown name', async () => {
    const workspace = await open({ tools: 'minimal' })
    expect(Object.keys(aiSdkTools(workspace, { tools: ['read_file', 'search_text'] }))).toEqual([
      'search_text',
      'read_file',
    ])
    expect(() => aiSdkTools(workspace, { tools: ['delete_file'] })).toThrow(/no tool "delete_file"/)
  })

  it('streams with any kind of model', async () => {
    const workspace = await open()
    const model: LanguageModel = new MockLanguageModelV3({
      doStream: async () => ({
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'tool-call', toolCallId: 'c', toolName: 'no_such_tool', input: '{}' })
            controller.close()
          },
        }),
      }),
    })
    const { toolCalls } = streamText({ model, tools: aiSdkTools(workspace), prompt: 'Go.', onError: () => {} })
    expect(await toolCalls).toMatchObject([{ toolName: 'no_such_tool', invalid: true }])
  })
})

describe('aiSdkTools in a dialect', () => {
  const ask = async (dialect: Dialect, name: string, input: unknown, results: 'text' | 'json' = 'text') => {
    const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous', dialect })
    const model = calling(name, input)
    await generateText({ model, tools: aiSdkTools(workspace, { results }), stopWhen: stepCountIs(3), prompt: 'Go.' })
    return lastPrompt(model)
  }

  it('shows the answers of the dialect to the model, and marks its refusals', async () => {
    const path = '/workspace/src/app.ts'
    expect(await ask(mcpFilesystem(), 'read_text_file', { path })).toEqual({
      type: 'text',
      value: 'export const answer = 41\n',
    })
    expect(await ask(mcpFilesystem(), 'read_text_file', { path: '/workspace/.env' })).toMatchObject({
      type: 'error-text',
      value: expect.stringContaining('POLICY_DENIED_SECRET'),
    })
    expect(await ask(snakeCase(), 'read_file', { path: 'src/app.ts' }, 'json')).toMatchObject({
      type: 'json',
      value: { ok: true, total_lines: 1 },
    })
    expect(await ask(snakeCase(), 'read_file', { path: 'none' }, 'json')).toMatchObject({
      type: 'error-json',
      value: { ok: false, error: { code: 'NOT_FOUND' } },
    })
  })
})
