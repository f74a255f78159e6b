import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import type { Dialect } from '../../src/dialects/runtime/types.ts'
import { createWorkspace } from '../../src/index.ts'
import { quote } from '../../src/paths/logical-path.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { times } from '../counts.ts'
import { cases, files } from './safety-calls.ts'

const ROOT = '/home/me/ws'
const roots = { [ROOT]: '', '/notes': 'memories', '/memories': 'memories' }

/** Fields that hold paths of the dialect. Paths in a patch are relative in every dialect. */
const pathFields = new Set([
  ...['path', 'file_path', 'dir_path', 'source', 'destination', 'cwd', 'workdir', 'old_path', 'new_path'],
])

const names = fc.constantFrom('..', 'x', 'a.txt', '.env', 'priv', '.git', 'a\\b', 'c:d', 'x'.repeat(300), '\u202e', ' ')
const paths = fc
  .tuple(
    fc.constantFrom(ROOT, `${ROOT}/src`, '/notes', '/memories', `${ROOT}x`, '/etc', '', '..'),
    fc.array(names, { maxLength: 3 }),
  )
  .map(([start, rest]) => [start, ...rest].join('/'))

/** Returns all texts of an answer. */
function textsOf(answer: unknown): string {
  if (typeof answer === 'string') return answer
  if (typeof answer !== 'object' || answer === null) return ''
  return Object.values(answer).map(textsOf).join('\n')
}

async function open(dialect: Dialect) {
  const lists = { deniedPaths: ['priv/**'], readOnlyPaths: ['src/**'] }
  const policy = { preset: 'autonomous', memory: {}, ...lists } as const
  const backend = memory({ ...files, '.env': 'KEY=value\n', 'priv/x': 'x\n' })
  return createWorkspace({ backend, policy, dialect, shell: bash() })
}

const calls = Object.entries(cases).flatMap(([name, ofDialect]) =>
  ofDialect.flatMap(({ tool, input }) =>
    Object.keys(input).some((field) => pathFields.has(field)) ? [{ name, tool, input }] : [],
  ),
)

describe('a refused path', () => {
  it('is shown once, in the words of the dialect', async () => {
    const openRoots = dialects as Readonly<Record<string, (roots: Readonly<Record<string, string>>) => Dialect>>
    const workspaces = Object.fromEntries(
      await Promise.all(
        Object.entries(openRoots).map(async ([name, make]) => {
          const dialect = make(roots)
          return [name, { dialect, workspace: await open(dialect) }] as const
        }),
      ),
    )
    let refused = 0
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...calls), paths, async ({ name, tool, input }, path) => {
        const { dialect, workspace } = workspaces[name] as (typeof workspaces)[string]
        const request = Object.entries(input).map(([field, value]) => [field, pathFields.has(field) ? path : value])
        const { isError, output, failure } = await workspace.call(tool, Object.fromEntries(request))
        if (!isError || failure === undefined) return
        refused += 1
        const text = textsOf(output)
        expect(text).not.toMatch(/\/home\/me\/ws\/+home\/me\/ws/)
        const logical = dialect.pathMapping.inward(path)
        if (logical === path || dialect.name === 'codex') return
        expect(text.split('`').join('"')).not.toContain(quote(logical))
        const bare = (one: string) => quote(one).slice(1, -1)
        if (failure.message.includes(quote(logical))) {
          const spellings = [path, dialect.pathMapping.outward(logical)]
          expect(spellings.some((one) => text.includes(bare(one))) || !text.includes('"'), text).toBe(true)
        }
      }),
      { numRuns: times(300, 1500) },
    )
    expect(refused).toBeGreaterThan(times(140, 700))
  })
})

describe('explain', () => {
  it.each(Object.keys(cases))('supports the tools of %s', async (name) => {
    const make = dialects[name] as () => Dialect
    const workspace = await open(make())
    for (const { tool, input, mode } of cases[name] ?? []) {
      if (mode !== undefined) continue
      const explained = await workspace.explain(tool, input)
      expect([tool, explained]).toEqual([tool, expect.objectContaining({ ok: true })])
      expect(explained.ok && explained.verdict.decision, tool).toBe('allow')
    }
    expect(await workspace.explain(cases[name]?.[0]?.tool ?? '', { foo: 1 })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(workspace.auditRecords()).toEqual([])
    expect(await workspace.own.explain('list_directory', {})).toMatchObject({ ok: true })
  })

  it('has the verdict, the accesses and the refusals of the calls that the tool makes', async () => {
    const make = dialects['named-roots'] as unknown as (roots: object) => Dialect
    const workspace = await open(make({ [ROOT]: '' }))
    const write = { path: `${ROOT}/src/x.txt`, content: 'x' }
    expect(await workspace.explain('write_file', write)).toMatchObject({
      ok: true,
      verdict: { decision: 'deny' },
      accesses: [{ permission: 'file:write', path: 'src/x.txt' }],
    })
    expect(await workspace.explain('read_file', { path: `${ROOT}/../x` })).toMatchObject({
      ok: false,
      code: 'PATH_REJECTED',
      message: `Path "${ROOT}/../x" climbs above the workspace root`,
    })
    expect((await workspace.call('read_file', { path: `${ROOT}/../x` })).failure?.message).toContain('"../x"')
    const rules = [{ name: 'ask', action: 'ask' as const, tools: ['file_write'] }]
    const dialect = (dialects['file-read-write'] as () => Dialect)()
    const asking = await createWorkspace({ backend: memory(), policy: { preset: 'autonomous', rules }, dialect })
    const explained = await asking.explain('file_write', { path: 'x', content: '' })
    expect(explained).toMatchObject({ ok: true, verdict: { decision: 'ask' } })
  })
})
