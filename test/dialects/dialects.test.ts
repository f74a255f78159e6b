import { describe, expect, it } from 'vitest'
import { toJsonSchema } from '../../src/adapters/json-schema/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { createWorkspace, type Path } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { fixtures, play } from './fixtures.ts'
import { protectsWhatIsProtected } from './random-calls.ts'

describe.each(fixtures())('$name', ({ fixture }) => {
  it('returns the recorded answers', async () => {
    expect(await play(fixture)).toEqual(fixture.calls)
  })

  it('contains a success and a refusal of every tool, and the important error codes', () => {
    const { tools } = dialects[fixture.dialect]?.() ?? { tools: [] }
    // `submit_plan` exists only in plan mode, in which no other change is possible.
    const names = tools.map(({ name }) => name).filter((name) => name !== 'submit_plan')
    const toolsOf = (isError: boolean) =>
      names.filter((name) => fixture.calls.some((one) => one.tool === name && one.isError === isError))
    expect(toolsOf(false)).toEqual(names)
    expect(toolsOf(true)).toEqual(names)
    const codes = fixture.calls.map(({ code }) => code)
    for (const code of ['PATH_REJECTED', 'POLICY_DENIED_SECRET', 'WRITE_CONFLICT', 'INVALID_INPUT']) {
      expect(codes).toContain(code)
    }
  })
})

describe('a listing with long, linked or protected entries', () => {
  it('marks them', async () => {
    const files = Object.fromEntries(Array.from({ length: 502 }, (_, i) => [`many/${i}`, 'x']))
    const backend = memory({ ...files, 'secrets/key.pem': 'x' })
    const link = { path: 'lnk' as Path, expect: 'absent', to: { type: 'link', target: 'many' } } as const
    await backend.commit([link], { durability: 'durable' })
    const open = (name: string) => {
      const dialect = (dialects[name] as (typeof dialects)[string])()
      return createWorkspace({ backend, policy: 'autonomous', dialect })
    }
    const listed = await (await open('named-roots')).call('list_directory', { path: '/workspace/many' })
    expect(listed.output).toMatchObject({ success: true, truncated: true, total: 502 })
    const listing = await (await open('patch-and-diff')).call('list_dir', { path: '.', depth: 1 })
    expect(listing.output).toBe('lnk@\nmany/\nsecrets/ (protected)')
  })
})

describe.each(Object.keys(dialects))('%s, for any input', (name) => {
  const dialect = (dialects[name] as (typeof dialects)[string])()

  it('refuses a second argument, which would have no effect', () => {
    const open = dialects[name] as (...args: unknown[]) => unknown
    for (const second of [{}, { versions: false }, undefined, 'x']) {
      expect(() => open(undefined, second)).toThrow(/^\w+\(\) takes one argument, the virtual roots$/)
    }
  })

  it('shows and changes nothing that policy protects', () => protectsWhatIsProtected(dialect, 40))

  it('publishes JSON Schemas and descriptions', async () => {
    const { tools } = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect, shell: bash() })
    expect(tools.length).toBeGreaterThan(0)
    for (const { description, inputSchema } of toJsonSchema(tools)) {
      expect(description.length).toBeGreaterThan(10)
      expect(inputSchema).toMatchObject({ type: 'object' })
    }
  })
})
