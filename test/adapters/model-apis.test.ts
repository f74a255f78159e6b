import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { describe, expect, it } from 'vitest'
import {
  anthropicTools,
  geminiTools,
  modelTools,
  openAiChatTools,
  openAiTools,
  toModelText,
} from '../../src/adapters/json-schema/index.ts'
import { memorySink } from '../../src/audit/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { type AuditRecord, createWorkspace, type WorkspaceOptions } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { dialect } from './dialect-of-data.ts'

const files = { 'src/app.ts': 'export const answer = 41\n', '.env': 'PASSWORD=never-shown\n' }

const open = (options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ backend: memory(files), policy: 'autonomous', ...options })

type Schema = Readonly<Record<string, unknown>>

/** Returns a schema and every schema inside it. */
function within(schema: Schema): Schema[] {
  const { properties, items, additionalProperties } = schema as Record<string, Schema | undefined>
  const inner = [...Object.values(properties ?? {}), items, additionalProperties] as (Schema | undefined)[]
  return [schema, ...inner.filter((each) => typeof each === 'object').flatMap((each) => within(each as Schema))]
}

describe('OpenAI', () => {
  it('offers every tool, in strict mode if its schema allows it', async () => {
    const workspace = await open({ shell: bash(), mode: 'plan', policy: { preset: 'autonomous', memory: {} } })
    const { tools } = openAiTools(workspace)
    expect(tools.map(({ name }) => name)).toEqual(workspace.tools.map(({ name }) => name))
    expect(tools.filter(({ strict }) => !strict).map(({ name }) => name)).toEqual(['apply_patch'])
    for (const { strict, parameters, name } of tools) {
      for (const schema of strict ? within(parameters) : []) {
        // The documentation of strict mode requires these keywords and supports no others.
        const keywords = ['type', 'description', 'enum', 'items', 'properties', 'required', 'additionalProperties']
        expect(Object.keys(schema).filter((keyword) => !keywords.includes(keyword))).toEqual([])
        if (schema.properties === undefined) continue
        expect([name, schema.required]).toEqual([name, Object.keys(schema.properties as object)])
        expect(schema.additionalProperties).toBe(false)
      }
    }
    const own = modelTools(workspace.tools)
    const loose = openAiTools(workspace, { strict: false }).tools
    expect(loose.every(({ strict }) => !strict)).toBe(true)
    expect(loose.map(({ parameters }) => parameters)).toEqual(
      own.map(({ inputSchema }) => ({ required: [], additionalProperties: true, ...inputSchema })),
    )
    const chat = openAiChatTools(workspace, { tools: ['read_file'] }).tools
    // What is sent has the definitions alone.
    const { type: _, ...read } = JSON.parse(JSON.stringify(openAiTools(workspace, { tools: ['read_file'] }).tools[0]))
    expect(Object.keys(read)).toEqual(['name', 'description', 'parameters', 'strict'])
    expect(JSON.parse(JSON.stringify(chat))).toEqual([{ type: 'function', function: read }])
    await workspace.close()
  })

  it('describes the default of a field, and the meaning of null', async () => {
    const { tools } = openAiTools(await open(), { tools: ['search_text', 'write_file'] })
    const [search, write] = tools.map(({ parameters }) => parameters.properties as Record<string, Schema>)
    expect(search?.mode).toEqual({
      type: ['string', 'null'],
      enum: ['literal', 'regex', null],
      description: 'default: literal',
    })
    expect(search?.query).toEqual({ type: 'string' })
    expect(write?.expectedSha256).toEqual({ type: ['string', 'null'], description: 'sha256 of the version you read' })
  })

  it('accepts null for an omitted field', async () => {
    const workspace = await open()
    const { tools, call } = openAiTools(workspace)
    const ajv = new AjvJsonSchemaValidator()
    const input = {
      path: 'src/app.ts',
      ...{ oldText: null, newText: null, replaceAll: null },
      edits: [{ oldText: '41', newText: '42', replaceAll: null }],
      ...{ expectedSha256: null, dryRun: null, reason: null },
    }
    const schema = tools.find(({ name }) => name === 'edit_file')?.parameters ?? {}
    expect(ajv.getValidator(schema)(input).valid).toBe(true)
    expect(ajv.getValidator(schema)({ path: 'src/app.ts' }).valid).toBe(false)
    const edited = await call({ call_id: 'c', name: 'edit_file', arguments: JSON.stringify(input) })
    expect(edited).toEqual({
      type: 'function_call_output',
      call_id: 'c',
      output: expect.stringMatching(/^Edited src\/app.ts/),
    })
    // The tool is not strict, so here null means that nothing may exist at the path.
    const patch =
      '--- a/src/app.ts\n+++ b/src/app.ts\n@@ -1 +1 @@\n-export const answer = 42\n+export const answer = 43\n'
    const patched = await call({
      call_id: 'd',
      name: 'apply_patch',
      arguments: JSON.stringify({ patch, expectedSha256s: { 'src/app.ts': null } }),
    })
    expect(patched.output).toMatch(/^WRITE_CONFLICT: /)
  })

  it('answers a call of Chat Completions, and refuses arguments that are not JSON', async () => {
    const workspace = await open()
    const { call } = openAiChatTools(workspace)
    const read = await call({ id: 'c', function: { name: 'read_file', arguments: '{"path":"src/app.ts"}' } })
    const direct = await workspace.call('read_file', { path: 'src/app.ts' })
    expect(read).toEqual({ role: 'tool', tool_call_id: 'c', content: toModelText('read_file', direct) })
    const listed = await call({ id: 'c', function: { name: 'list_directory', arguments: '' } })
    expect(listed.content).toMatch(/^Listed \.: 1 entry/)
    const cut = await call({ id: 'c', function: { name: 'read_file', arguments: '{"path":"src' } })
    expect(cut.content).toMatch(/^INVALID_INPUT: /)
  })

  it('refuses arguments with an error or a repeated name at any depth, and says where', async () => {
    const workspace = await open()
    const chat = openAiChatTools(workspace)
    const responses = openAiTools(workspace)
    const name = 'edit_file'
    const [chatTool, tool] = [
      chat.tools.find((one) => one.function.name === name),
      responses.tools.find((one) => one.name === name),
    ]
    const ways: Readonly<Record<string, (json: string) => Promise<unknown>>> = {
      chat: async (json) => (await chat.call({ id: 'c', function: { name, arguments: json } })).content,
      runner: async (json) => chatTool?.function.function(json),
      responses: async (json) => (await responses.call({ call_id: 'c', name, arguments: json })).output,
      agent: async (json) => tool?.invoke(undefined, json),
    }
    const texts = {
      '{"path":"a","path":"src/app.ts"}': 'line 1, column 13): The name "path" is given twice',
      '{"path":"src/app.ts","edits":[{"oldText":"41",\n"old\\u0054ext":"4"}]}': 'line 2, column 1): The name ',
      '{"path":"src': 'column 13): ',
    }
    for (const [way, call] of Object.entries(ways)) {
      for (const [text, message] of Object.entries(texts)) {
        const answer = await call(text)
        expect(answer, way).toMatch(/^INVALID_INPUT: /)
        expect(answer, way).toContain(message)
      }
    }
    const refused = workspace.auditRecords().filter(({ code }) => code === 'INVALID_INPUT')
    expect(refused).toHaveLength(Object.keys(ways).length * Object.keys(texts).length)
    expect(await workspace.call('read_file', { path: 'src/app.ts' })).toMatchObject({
      content: expect.stringContaining('41'),
    })
  })
})

describe('Anthropic', () => {
  it('offers the tools, and answers a tool_use block', async () => {
    const sink = memorySink()
    const workspace = await open({ audit: sink })
    const run = workspace.run({ id: 'second' })
    const { tools, call } = anthropicTools(workspace, { run })
    expect(JSON.parse(JSON.stringify(tools))).toEqual(
      modelTools(workspace.tools).map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: inputSchema,
      })),
    )
    expect(await call({ id: 't1', name: 'list_directory', input: {} })).toEqual({
      type: 'tool_result',
      tool_use_id: 't1',
      content: 'Listed .: 1 entry\n\nsrc/',
    })
    expect(await call({ id: 't2', name: 'read_file', input: { path: '.env' } })).toEqual({
      type: 'tool_result',
      tool_use_id: 't2',
      content: expect.stringMatching(/^POLICY_DENIED_SECRET: /),
      is_error: true,
    })
    const steps = sink.records().filter(({ phase }: AuditRecord) => phase === 'outcome')
    expect(steps).toMatchObject([{ runId: 'second', stepId: 't1' }])
    expect(sink.records().at(-1)).toMatchObject({ stepId: 't2', code: 'POLICY_DENIED_SECRET' })
  })

  it('runs only the offered tools, and asks for approval through its own approve', async () => {
    const workspace = await open({ policy: 'supervised' })
    const { tools, call } = anthropicTools(workspace, {
      tools: ['write_file'],
      approve: ({ tool }) => ({ deny: `no ${tool}` }),
    })
    expect(tools.map(({ name }) => name)).toEqual(['write_file'])
    expect(await call({ id: 't', name: 'delete_file', input: { path: 'src/app.ts' } })).toMatchObject({
      content: 'UNKNOWN_TOOL: "delete_file" is not offered here',
      is_error: true,
    })
    const refused = await call({ id: 't', name: 'write_file', input: { path: 'n.txt', content: 'x' } })
    expect(refused.content).toMatch(/^APPROVAL_DENIED: .*no write_file/)
    expect(() => anthropicTools(workspace, { tools: ['no_such_tool'] })).toThrow(/no tool "no_such_tool"/)
  })

  it('cancels the call on abort', async () => {
    const workspace = await open()
    const { call } = anthropicTools(workspace)
    const aborted = await call({ id: 't', name: 'list_directory', input: {} }, { signal: AbortSignal.abort() })
    expect(aborted.content).toMatch(/^ABORTED: /)
  })

  it('uses the dialect of the workspace', async () => {
    const dialectWorkspace = await createWorkspace({ backend: memory(files), policy: 'autonomous', dialect })
    const { tools, call } = anthropicTools(dialectWorkspace)
    expect(tools.map(({ name }) => name)).toEqual(dialectWorkspace.tools.map(({ name }) => name))
    const [first] = tools
    const answer = await call({ id: 't', name: first?.name ?? '', input: { path: '/workspace/src/app.ts' } })
    expect(answer).toMatchObject({ content: '{"text":"export const answer = 41\\n"}' })
    const refused = await call({ id: 't', name: first?.name ?? '', input: { path: '/workspace/.env' } })
    expect(refused).toMatchObject({ content: expect.stringMatching(/^No: /), is_error: true })
  })
})

describe('Gemini', () => {
  /** The JSON Schema keywords in the documentation of the API. */
  const documented = [
    ...['$id', '$defs', '$ref', '$anchor', 'type', 'format', 'title', 'description', 'enum', 'items', 'prefixItems'],
    ...[
      'minItems',
      'maxItems',
      'minimum',
      'maximum',
      'anyOf',
      'oneOf',
      'properties',
      'additionalProperties',
      'required',
    ],
  ]

  it('offers the tools in the keywords that the API supports', async () => {
    const workspace = await open({ shell: bash(), mode: 'plan', policy: { preset: 'autonomous', memory: {} } })
    const [tool] = geminiTools(workspace).tools
    expect(tool?.functionDeclarations.map(({ name }) => name)).toEqual(workspace.tools.map(({ name }) => name))
    for (const { name, parametersJsonSchema } of tool?.functionDeclarations ?? []) {
      expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/)
      for (const schema of within(parametersJsonSchema)) {
        expect(Object.keys(schema).filter((keyword) => !documented.includes(keyword))).toEqual([])
      }
    }
    const search = tool?.functionDeclarations.find(({ name }) => name === 'search_text')?.parametersJsonSchema
    expect(search?.properties).toMatchObject({ path: { description: 'Directory or file; default: .' } })
    await workspace.close()
  })

  it('answers a functionCall', async () => {
    const { call } = geminiTools(await open())
    expect(await call({ id: 'g', name: 'list_directory' })).toEqual({
      functionResponse: { id: 'g', name: 'list_directory', response: { output: 'Listed .: 1 entry\n\nsrc/' } },
    })
    expect(await call({ name: 'read_file', args: { path: '../x' } })).toEqual({
      functionResponse: { name: 'read_file', response: { error: expect.stringMatching(/^PATH_REJECTED: /) } },
    })
    expect(await call({})).toMatchObject({
      functionResponse: { response: { error: expect.stringMatching(/^UNKNOWN_TOOL/) } },
    })
  })
})
