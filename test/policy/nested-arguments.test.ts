import { describe, expect, it } from 'vitest'
import type * as z from 'zod/mini'
import { memory } from '../../src/backends/memory/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import { createWorkspace, type PolicyInput } from '../../src/index.ts'
import { compileArgument } from '../../src/policy/arguments.ts'
import { dialectArguments } from '../../src/policy/dialect-call.ts'
import { lintPolicy } from '../../src/policy/lint.ts'
import { builtinTools } from '../../src/tools/index.ts'

const text = 'one\ntwo\n'
const edits = (...texts: string[]) => texts.map((newText, i) => ({ oldText: i === 0 ? 'one' : 'two', newText }))

async function codeOf(action: string, input: object, preset?: string): Promise<string> {
  const rules = [{ name: 'x', action, tools: ['edit_file'], args: { newText: ['*bad*'] } }]
  const allowsReading = { name: 'reads', action: 'allow', permissions: ['file:view'] }
  const policy = { ...(preset && { preset }), rules: [...rules, allowsReading] } as unknown as PolicyInput
  const workspace = await createWorkspace({ backend: memory({ 'a.txt': text }), policy })
  const result = await workspace.callTool('edit_file', { path: 'a.txt', ...input } as never)
  return result.ok ? 'ok' : result.code
}

describe('a rule on an argument', () => {
  it.each([
    ['deny', 'autonomous', { oldText: 'one', newText: 'bad' }, 'POLICY_DENIED'],
    ['deny', 'autonomous', { edits: edits('bad') }, 'POLICY_DENIED'],
    ['deny', 'autonomous', { edits: edits('good', 'bad') }, 'POLICY_DENIED'],
    ['deny', 'autonomous', { edits: edits('good', 'fine') }, 'ok'],
    ['ask', 'autonomous', { edits: edits('good', 'bad') }, 'APPROVAL_REQUIRED'],
    ['allow', undefined, { edits: edits('bad', 'bad 2') }, 'ok'],
    ['allow', undefined, { edits: edits('bad', 'good') }, 'POLICY_DENIED'],
    ['allow', undefined, { oldText: 'one', newText: 'good' }, 'POLICY_DENIED'],
  ])('%s with the preset %s holds for %j: %s', async (action, preset, input, code) => {
    expect(await codeOf(action, input, preset)).toBe(code)
  })

  it('holds for nested fields of a dialect', async () => {
    for (const [newText, isError] of [
      ['bad', true],
      ['good', undefined],
    ] as const) {
      const workspace = await createWorkspace({
        ...{ backend: memory({ 'a.txt': text }), dialect: mcpFilesystem() },
        policy: {
          preset: 'autonomous',
          rules: [{ name: 'x', action: 'deny', tools: ['edit_file'], args: { newText: ['bad'] } }],
        },
      })
      const result = await workspace.call('edit_file', { path: 'a.txt', edits: edits(newText) })
      expect(result.failure !== undefined || undefined, newText).toBe(isError)
    }
  })

  it('takes no time for bytes', () => {
    const test = compileArgument('path', ['a'], 'args')
    const content = new Uint8Array(1e7)
    const start = performance.now()
    for (let i = 0; i < 100; i++) expect(test({ content }, 'some')).toBe(false)
    expect(performance.now() - start).toBeLessThan(1000)
  })
})

/** Returns an input with a text for every field below a schema, and the names of these fields. */
function sampleOf(schema: z.core.$ZodType, field: string, fields: Set<string>): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if ('innerType' in def) return sampleOf(def.innerType as z.core.$ZodType, field, fields)
  if (def.type === 'array') return [sampleOf(def.element, field, fields)]
  if (def.type === 'union') return def.options.map((option) => sampleOf(option, field, fields))
  if (def.type !== 'object') return `text of ${field}`
  const entries = Object.entries(def.shape as Record<string, z.core.$ZodType>)
  for (const [name] of entries) fields.add(name)
  return Object.fromEntries(entries.map(([name, each]) => [name, sampleOf(each, name, fields)]))
}

const tools = [
  ...builtinTools.map(({ name, input }) => ['workspace', name, input] as const),
  ...Object.entries(dialects).flatMap(([dialect, create]) =>
    create().tools.map(({ name, input }) => [dialect, name, input] as const),
  ),
]

it.each(tools)('%s: each field of %s at any depth is an argument', (_, __, input) => {
  const fields = new Set<string>()
  const sample = sampleOf(input as never, '', fields) as Record<string, unknown>
  for (const field of fields) {
    const rules = [{ name: 'x', action: 'deny', args: { [field]: ['*'] } }] as const
    const texts = Object.values(dialectArguments({ rules }, sample, new Map()) ?? {}).flat()
    const test = compileArgument(field, ['**'], 'args')
    expect(test(sample, 'some'), field).toBe(true)
    expect(texts.length, field).toBeGreaterThan(0)
  }
})

it('of the tools there are some with nested fields', () => {
  const nested = tools.filter(([, , input]) => {
    const fields = new Set<string>()
    sampleOf(input as never, '', fields)
    return fields.size > Object.keys(input.shape).length
  })
  expect(nested.length).toBeGreaterThan(0)
})

it.each(['deny', 'ask', 'allow'])('args.command of a rule that %s lines is named by the lint', (action) => {
  const lint = (fields: object) =>
    lintPolicy({ preset: 'supervised', rules: [{ name: 'x', action, ...fields }] }, { tools: builtinTools })
      .map(({ message, hint }) => `${message} ${hint}`)
      .join('\n')
  for (const tools of [undefined, ['run_command'], ['start_command'], ['*_command']]) {
    const named = { ...(tools && { tools }), args: { command: ['git push*'] } }
    expect(lint(named)).toMatch(/compared with the whole line.*Use commands: \["git push\*"\]/)
  }
  expect(lint({ commands: ['git push*'] })).toBe('')
  expect(lint({ tools: ['str_replace_based_edit_tool'], args: { command: ['create'] } })).toBe('')
})
