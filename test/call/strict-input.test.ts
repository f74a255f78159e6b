import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, defineTool } from '../../src/index.ts'

/** An object whose author forgot to make it strict. */
const open = z.object({ path: z.string(), depth: z.number().optional() })
const right = { path: 'a' }
const wrong = { path: 'a', dpth: 1 }

interface Node {
  path: string
  depth?: number | undefined
  next?: Node | undefined
}
const node: z.ZodType<Node> = z.object({
  path: z.string(),
  depth: z.number().optional(),
  get next() {
    return node.optional()
  },
})

/** Schemas that contain {@link open}, with the place of its value in theirs. */
const places: Readonly<Record<string, readonly [schema: z.ZodType, place: (value: object) => unknown, at: string]>> = {
  'an object': [open, (value) => value, ''],
  'an object with a check': [open.refine(() => true), (value) => value, ''],
  'an object in an object': [z.object({ in: open }), (value) => ({ in: value }), '.in'],
  'a list': [z.array(open), (value) => [right, value], '.1'],
  'a list of lists': [z.array(z.array(open)), (value) => [[value]], '.0.0'],
  'a tuple': [z.tuple([z.string(), open]), (value) => ['a', value], '.1'],
  'the rest of a tuple': [z.tuple([z.string()], open), (value) => ['a', right, value], '.2'],
  'a record': [z.record(z.string(), open), (value) => ({ any: value }), '.any'],
  'the other fields of an object': [z.object({}).catchall(open), (value) => ({ any: value }), '.any'],
  'a union with a text': [z.union([z.string(), open]), (value) => value, ''],
  'a union with an object': [z.union([z.object({ name: z.string() }), open]), (value) => value, ''],
  'a union of a union': [z.union([z.string(), z.union([z.number(), open])]), (value) => value, ''],
  'a union of lists': [z.union([z.string(), z.array(open)]), (value) => [value], '.0'],
  'a discriminated union': [
    z.discriminatedUnion('kind', [open.extend({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]),
    (value) => ({ kind: 'a', ...value }),
    '',
  ],
  'an intersection': [z.intersection(open, z.object({ more: z.string() })), (value) => ({ more: '', ...value }), ''],
  'an optional field': [open.optional(), (value) => value, ''],
  'a field that can be null': [open.nullable(), (value) => value, ''],
  'a field that can be missing or null': [open.nullish(), (value) => value, ''],
  'a default': [open.default(right), (value) => value, ''],
  'a prefault': [open.prefault(right), (value) => value, ''],
  'a field that is required again': [open.optional().nonoptional(), (value) => value, ''],
  'a read-only field': [open.readonly(), (value) => value, ''],
  'a transformed field': [open.transform(({ path }) => path), (value) => value, ''],
  'a preprocessed field': [z.preprocess((value) => value, open), (value) => value, ''],
  'a piped field': [open.pipe(z.object({ path: z.string() })), (value) => value, ''],
  'a lazy field': [z.lazy(() => open), (value) => value, ''],
  'a recursive field': [node, (value) => ({ path: 'a', next: { path: 'b', next: value } }), '.next.next'],
  'a schema within several others': [
    z.array(z.object({ one: z.union([z.null(), z.array(open.optional())]).optional() })),
    (value) => [{ one: [value] }],
    '.0.one.0',
  ],
}

const openWith = (input: z.ZodObject) =>
  createWorkspace({
    backend: memory(),
    policy: 'autonomous',
    extraTools: [
      defineTool({
        ...{
          name: 'own',
          title: 'Own',
          description: 'Returns its input.',
          input,
          output: z.object({ text: z.string() }),
        },
        ...{ permission: 'file:read', mutates: false, idempotent: true },
        plan: () => [],
        draft: async (parsed) => ({ summary: '', result: () => ({ text: JSON.stringify(parsed) }) }),
      }),
    ],
  })

describe('the input of an own tool', () => {
  it('refuses an unknown field beside the fields, and names the nearest', async () => {
    const workspace = await openWith(open)
    expect(await workspace.call('own', wrong)).toMatchObject({
      ok: false,
      code: 'INVALID_INPUT',
      field: 'dpth',
      message: expect.stringContaining('did you mean "depth"?'),
    })
    expect(await workspace.call('own', right)).toMatchObject({ ok: true, text: '{"path":"a"}' })
  })

  it.each(Object.entries(places))(
    'refuses an unknown field in %s, and names the nearest',
    async (_, [schema, place, at]) => {
      const workspace = await openWith(z.object({ field: schema }))
      expect(await workspace.call('own', { field: place(right) })).toMatchObject({ ok: true })
      expect(await workspace.call('own', { field: place(wrong) })).toMatchObject({
        ok: false,
        code: 'INVALID_INPUT',
        field: `field${at}.dpth`,
        message: expect.stringContaining('did you mean "depth"?'),
      })
    },
  )

  it('accepts other fields where its schema does', async () => {
    const loose = z.looseObject({ path: z.string(), inner: z.object({}).catchall(z.number()).optional() })
    const workspace = await openWith(loose)
    expect(await workspace.call('own', { path: 'a', other: 1, inner: { any: 1 } })).toMatchObject({
      text: '{"path":"a","inner":{"any":1},"other":1}',
    })
  })

  it('is listed to models with its descriptions and as one that takes no other fields', async () => {
    const described = z.object({ inner: open.describe('Where') }).describe('All')
    const [listed, again] = [await openWith(described), await openWith(described)].map(({ tools }) => tools.at(-1))
    expect(again?.inputSchema).toBe(listed?.inputSchema)
    const strict = z.strictObject({ inner: z.strictObject(open.shape).describe('Where') }).describe('All')
    expect(z.toJSONSchema(listed?.inputSchema as z.ZodObject)).toEqual(z.toJSONSchema(strict))
  })
})
