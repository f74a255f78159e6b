import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toJsonSchema } from '../../src/adapters/json-schema.ts'
import { memory } from '../../src/backends/memory.ts'
import { dialects } from '../../src/dialects/index.ts'
import { createWorkspace, type Path } from '../../src/index.ts'
import { bash } from '../../src/shells/bash.ts'
import { fixtures, play } from './fixtures.ts'

describe.each(fixtures())('$name', ({ fixture }) => {
  it('is answered as it was', async () => {
    expect(await play(fixture)).toEqual(fixture.calls)
  })

  it('holds a success and a refusal of every tool, and the refusals that matter', () => {
    const { tools } = dialects[fixture.dialect]?.() ?? { tools: [] }
    const names = tools.map(({ name }) => name)
    const asked = (isError: boolean) =>
      names.filter((name) => fixture.calls.some((one) => one.tool === name && one.isError === isError))
    expect(asked(false)).toEqual(names)
    expect(asked(true)).toEqual(names)
    const codes = fixture.calls.map(({ code }) => code)
    for (const code of ['PATH_REJECTED', 'POLICY_DENIED_SECRET', 'WRITE_CONFLICT', 'INVALID_INPUT']) {
      expect(codes).toContain(code)
    }
  })
})

const SECRET = 'the-word-that-must-never-show'

const files = {
  'allowed/a.txt': 'fine\n',
  'allowed/.env': `KEY=${SECRET}\n`,
  'forbidden/s.txt': `${SECRET}\n`,
  '.git/config': `[core] ${SECRET}\n`,
}

/** Names inside and outside, ways up, absolute paths, and what decodes or folds to them. */
const parts = fc.constantFrom(
  ...['..', '.', '', '/', '\\', '%2e%2e', '..\\', '~', '\u0000', '\u202e', '．．', 'C:', 'file:', '$HOME'],
  ...['allowed', 'forbidden', 'a.txt', 's.txt', '.env', '.git', 'config', 'workspace', 'etc', 'passwd', 'proc', 'self'],
)
const paths = fc
  .tuple(
    fc.constantFrom(
      '',
      '',
      '/',
      '/workspace/',
      '/workspace/',
      '/workspace/../',
      '../',
      'allowed/../',
      '/workspace/allowed/',
    ),
    fc.oneof(
      fc.array(parts, { maxLength: 4 }),
      fc.constantFrom(...Object.keys(files)).map((path) => [path]),
    ),
  )
  .map(([start, names]) => start + names.join('/'))

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

const texts = fc.oneof(
  { weight: 3, arbitrary: paths },
  { weight: 2, arbitrary: fc.constantFrom('**', '**/*', 'e', 'fine\n', 'cat ../s.txt /etc/passwd forbidden/* .env') },
  { weight: 1, arbitrary: paths.map((path) => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch`) },
  { weight: 1, arbitrary: paths.map((path) => `cat "${path}"; echo x > "${path}"; mv allowed/a.txt "${path}"`) },
)
const junk = fc.oneof(texts, fc.integer(), fc.boolean(), fc.constant(null), fc.constant([]), fc.constant({}))

/** Inputs that fit a tool's schema, mostly: all of its texts may be paths. */
function fitting(
  field: string,
  { type, enum: known, anyOf, items = {}, properties = {}, required = [] }: Schema,
): fc.Arbitrary<unknown> {
  if (known !== undefined) return fc.constantFrom(...known)
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((one) => fitting(field, one)))
  if (type === 'string') return /path|dir|cwd|source|destination|^file$/i.test(field) ? paths : texts
  if (type === 'integer' || type === 'number') return fc.integer({ min: 1, max: 5 })
  if (type === 'boolean') return fc.boolean()
  if (type === 'null') return fc.constant(null)
  if (type === 'array') return fc.array(fitting(field, items), { minLength: 1, maxLength: 3 })
  const fields = Object.entries(properties).map(([name, schema]) => [
    name,
    fc.oneof({ weight: 40, arbitrary: fitting(name, schema) }, { weight: 1, arbitrary: junk }),
  ])
  const model: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(fields)
  return fc.record(model, { requiredKeys: [...required] })
}

describe.each(Object.keys(dialects))('%s: whatever it is asked', (name) => {
  const dialect = (dialects[name] as (typeof dialects)[string])()

  it('shows and changes nothing that policy protects', async () => {
    const backend = memory(files)
    const workspace = await createWorkspace({
      ...{ backend, dialect, shell: bash(), policy: { preset: 'autonomous', deniedPaths: ['forbidden/**'] } },
    })
    const outside = async () => {
      const read = async (path: string) => (await backend.read(await backend.canonical(path as never))).stat.tag
      return Promise.all(['allowed/.env', 'forbidden/s.txt', '.git/config'].map(read))
    }
    const before = await outside()
    const asked = fc.oneof(
      ...toJsonSchema(workspace.tools).map(({ name, inputSchema }) =>
        fc.record({ tool: fc.constant(name), input: fitting('', inputSchema) }),
      ),
    )
    await fc.assert(
      fc.asyncProperty(asked, async ({ tool, input }) => {
        const result = await workspace.call(tool, input)
        expect(JSON.stringify(result)).not.toContain(SECRET)
      }),
      { numRuns: 150 },
    )
    expect(await outside()).toEqual(before)
    for (const record of workspace.auditRecords()) {
      for (const path of record.pathsWritten) {
        expect(path).not.toMatch(/^forbidden|\.git(\/|$)/)
        // A directory may have any name.
        if (path.endsWith('.env')) expect((await backend.stat(path as Path))?.type).not.toBe('file')
      }
    }
  })

  it('publishes JSON Schemas and descriptions', async () => {
    const { tools } = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect, shell: bash() })
    expect(tools.length).toBeGreaterThan(0)
    for (const { description, inputSchema } of toJsonSchema(tools)) {
      expect(description.length).toBeGreaterThan(10)
      expect(inputSchema).toMatchObject({ type: 'object' })
    }
  })
})
