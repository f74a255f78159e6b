import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import * as mini from 'zod/mini'
import { toJsonSchema } from '../../src/adapters/json-schema/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { defineTool, type ObjectSchema } from '../../src/tools/author.ts'

describe('ObjectSchema', () => {
  it('accepts object schemas of zod and zod/mini, and no other schemas', () => {
    expectTypeOf(z.object({ a: z.string() })).toExtend<ObjectSchema>()
    expectTypeOf(z.strictObject({ a: z.string().default('') })).toExtend<ObjectSchema>()
    expectTypeOf(mini.looseObject({ a: mini.optional(mini.string()) })).toExtend<ObjectSchema>()
    expectTypeOf(z.string()).not.toExtend<ObjectSchema>()
    expectTypeOf(z.record(z.string(), z.string())).not.toExtend<ObjectSchema>()
    expectTypeOf(mini.array(mini.object({}))).not.toExtend<ObjectSchema>()
  })

  it('can be read where a copy of zod keeps descriptions in a registry of its own', async () => {
    const path = Object.assign(z.string(), { meta: () => ({ description: 'The file' }) })
    const tool = defineTool({
      name: 'count_words',
      title: 'Count words',
      description: 'Counts.',
      input: z.object({ path }),
      output: z.object({ words: z.number() }),
      permission: 'file:read',
      mutates: false,
      idempotent: true,
      plan: (input) => [{ permission: 'file:read', path: input.path }],
      draft: async () => ({ summary: 'Counted', result: () => ({ words: 1 }) }),
    })
    const workspace = await createWorkspace({ backend: memory(), policy: { preset: 'readOnly' }, extraTools: [tool] })
    const [schema] = toJsonSchema(workspace.tools.filter(({ name }) => name === 'count_words'))
    expect(schema?.inputSchema.properties).toEqual({ path: { type: 'string', description: 'The file' } })
  })
})
