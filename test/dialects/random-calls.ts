import fc from 'fast-check'
import { expect } from 'vitest'
import { toJsonSchema } from '../../src/adapters/json-schema/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import type { Dialect } from '../../src/dialects/runtime/types.ts'
import { createWorkspace, type Path } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'

/** Makes random calls in a dialect, and checks that no protected file is shown or changed. */
export async function protectsWhatIsProtected(dialect: Dialect, numRuns: number): Promise<void> {
  const backend = memory(files)
  const workspace = await createWorkspace({
    ...{ backend, dialect, shell: bash(), policy: { preset: 'autonomous', deniedPaths: ['forbidden/**'] } },
  })
  const outside = async () => {
    const read = async (path: string) => (await backend.read(await backend.canonical(path as never))).stat.tag
    return Promise.all(['allowed/.env', 'forbidden/s.txt', '.git/config'].map(read))
  }
  const before = await outside()
  const schemaCalls = fc.oneof(
    ...toJsonSchema(workspace.tools).map(({ name, inputSchema }) =>
      fc.record({ tool: fc.constant(name), input: fitting('', inputSchema) }),
    ),
  )
  await fc.assert(
    fc.asyncProperty(schemaCalls, async ({ tool, input }) => {
      const result = await workspace.call(tool, input)
      expect(JSON.stringify(result)).not.toContain(SECRET)
    }),
    { numRuns },
  )
  expect(await outside()).toEqual(before)
  for (const record of workspace.auditRecords()) {
    for (const path of record.pathsWritten) {
      expect(path).not.toMatch(/^forbidden|\.git(\/|$)/)
      // A directory can have any name.
      if (/(^|\/)\.env$/.test(path)) expect((await backend.stat(path as Path))?.type).not.toBe('file')
    }
  }
}

const SECRET = 'the-word-that-must-never-show'

const files = {
  'allowed/a.txt': 'fine\n',
  'allowed/.env': `KEY=${SECRET}\n`,
  'forbidden/s.txt': `${SECRET}\n`,
  '.git/config': `[core] ${SECRET}\n`,
}

/** Paths inside and outside the root, with `..`, absolute ones, and spellings that decode or case-fold to them. */
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

/** Inputs that mostly match a tool's schema. Every text can be a path. */
function fitting(
  field: string,
  { type, enum: values, anyOf, items = {}, properties = {}, required = [] }: Schema,
): fc.Arbitrary<unknown> {
  if (values !== undefined) return fc.constantFrom(...values)
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
