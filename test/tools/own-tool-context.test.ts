import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type Hooks, type Path, type Tool, type ToolContext } from '../../src/index.ts'

const files = { 'src/a.ts': 'export const a = 1\n', 'src/b.ts': 'export const b = 2\n', 'c.txt': 'c\n' }
const visible = { includeHidden: false, includeIgnored: false }

/** Calls an own tool with a recursive access to `src` whose draft runs the action. */
async function draftWith(action: (context: ToolContext) => unknown, plan: readonly object[] = []) {
  const tool = {
    ...{ name: 'own', title: 'Own', description: 'Reads.', input: z.strictObject({}), output: z.object({}) },
    ...{ permission: 'file:read', mutates: false, idempotent: true },
    plan: () => [...plan, { permission: 'file:search', path: 'src', recursive: true }],
    async draft(_input: object, context: ToolContext) {
      const value = await action(context)
      return { summary: JSON.stringify(value ?? null), result: () => ({}) }
    },
  } as unknown as Tool
  const policy = {
    preset: 'autonomous',
    labels: { sources: [{ label: 'internal', paths: ['src/b.ts'] }], sinks: [] },
  } as const
  const workspace = await createWorkspace({ backend: memory(files), policy, extraTools: [tool] })
  return workspace.callTool('own', {})
}

/** Every function of the context, with right arguments, and with each argument wrong in turn. */
const path = 'src/a.ts'
const rightCalls: Readonly<Record<string, readonly unknown[]>> = {
  progress: [1, 'files', 2],
  hasReadWhole: [path, '0'.repeat(64)],
  keepArtifact: ['a.txt', 'text'],
  addLabel: ['internal', path],
  requireHostAllowed: ['example.com'],
  'files.stat': [path],
  'files.read': [path, 1000],
  'files.versionOf': [new Uint8Array()],
  'files.readRange': [path, { start: 0, end: 1 }],
  'files.document': [path, 1000],
  'files.noteRead': [path, 10],
  'files.walk': ['src', 'search', visible, 3],
  'files.visible': ['src', visible, () => true],
  'files.candidates': ['src', visible],
  'files.scan': [[path], () => true, () => true, 1000],
  'files.missingParents': [path],
  'files.emptiedDirectories': [[], new Set()],
}
const wrongValues: readonly (readonly [value: unknown, isWrong: (right: unknown) => boolean])[] = [
  [null, () => true],
  [Symbol('x'), () => true],
  ['secrett', (right) => typeof right !== 'string' || ['internal', 'search'].includes(right)],
  [{ includeHiden: true, includeIgnored: false }, (right) => right === visible],
  [{ includeHidden: true }, (right) => right === visible],
  [{ start: 0, end: 1, etag: 'x' }, (right) => typeof right === 'object' && right !== null && 'start' in right],
  [Number.NaN, () => true],
]
const wrongCalls = Object.entries(rightCalls).flatMap(([name, args]) =>
  args.flatMap((right, index) =>
    wrongValues
      .filter(([, isWrong]) => isWrong(right))
      .map(([value]) => [name, index, value, args.map((arg, i) => (i === index ? value : arg))] as const),
  ),
)

async function invoke(context: ToolContext, name: string, args: readonly unknown[]): Promise<void> {
  const [first = '', second] = name.split('.')
  const owner = second === undefined ? context : Reflect.get(context, first)
  const value: unknown = await Reflect.get(owner, second ?? first).apply(owner, args)
  if (name === 'files.walk') for await (const _entry of value as AsyncIterable<unknown>);
}

describe('the functions of the context of an own tool', () => {
  it.each(Object.entries(rightCalls))('%s takes right arguments', async (name, args) => {
    expect(await draftWith((context) => invoke(context, name, args))).toMatchObject({ ok: true })
  })

  it.each(wrongCalls)('%s refuses argument %i as %s', async (name, _index, _value, args) => {
    const failure = await draftWith((context) => invoke(context, name, args))
    expect(failure).toMatchObject({ ok: false, code: 'BACKEND_ERROR', step: 'draft' })
    expect(String(failure.cause)).toContain(`context.${name}()`)
  })

  it('names the nearest label', async () => {
    const failure = await draftWith((context) => context.addLabel('restrictd' as 'restricted'))
    expect(String(failure.cause)).toContain('did you mean "restricted"?')
  })

  it.each(['.', './', '', 'src', './src', 'src/'])('take the path %j as plans do', async (start) => {
    const listed = await draftWith(
      ({ files: granted }) => granted.candidates(start as Path, visible),
      [{ permission: 'file:search', path: '.', recursive: true }],
    )
    const all = start.includes('src') ? ['src/a.ts', 'src/b.ts'] : ['c.txt', 'src/a.ts', 'src/b.ts']
    expect(JSON.parse(String(listed.summary))).toEqual(all)
  })

  it.each([
    ['c.txt', (context: ToolContext) => context.files.read('c.txt' as Path, 10)],
    ['c.txt', (context: ToolContext) => context.files.document('c.txt' as Path, 10)],
    ['c.txt', (context: ToolContext) => context.files.stat('c.txt' as Path)],
    ['.', (context: ToolContext) => context.files.candidates('.' as Path, visible)],
    ['.', (context: ToolContext) => invoke(context, 'files.walk', ['', 'list', visible])],
  ])('report that the plan does not name %j', async (name, action) => {
    expect(await draftWith(action)).toMatchObject({
      code: 'POLICY_DENIED',
      message: expect.stringContaining(`"${name}"`),
      hint: expect.stringMatching(/an error of the tool.*plan/),
    })
  })

  it('report that a walk needs a recursive access', async () => {
    const action = ({ files: granted }: ToolContext) => granted.candidates('' as Path, visible)
    expect(await draftWith(action, [{ permission: 'file:search', path: '.' }])).toMatchObject({
      ...{ code: 'POLICY_DENIED', message: expect.stringContaining('"."') },
      hint: expect.stringContaining('recursive'),
    })
  })

  it.each([[1], [null], [{}]])('the warning %j is not accepted', async (warning) => {
    const failure = await draftWith(({ warnings }) => warnings.push(warning as never))
    expect(String(failure.cause)).toContain('"warnings" of the context')
  })
})

describe('the answer of a hook', () => {
  const open = (hooks: Hooks) => createWorkspace({ backend: memory(files), policy: 'autonomous', hooks })

  it.each(['secrett', 'Public', '', 1, null, {}])('cannot have the label %j', async (label) => {
    const workspace = await open({ postToolResponse: ({ result }) => ({ ...result, label }) })
    expect(await workspace.callTool('read_file', { path: 'c.txt' })).toMatchObject({
      ...{ code: 'HOOK_FAILED', message: expect.stringContaining('label') },
    })
  })

  it.each([
    { refues: 'no', input: { path: 'c.txt' } },
    { refused: 'no', input: { path: 'c.txt' } },
    { input: { path: 'c.txt' }, reason: 'x' },
    { refuse: 1 },
    { refuse: null, input: {} },
    {},
  ])('cannot be %j', async (answer) => {
    const workspace = await open({ preToolCall: () => answer as never })
    expect(await workspace.callTool('read_file', { path: 'c.txt' })).toMatchObject({ code: 'HOOK_FAILED' })
  })
})
