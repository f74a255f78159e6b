import fc from 'fast-check'
import { afterAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod/mini'
import { memory } from '../../src/backends/memory/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { sha256 } from '../../src/files/hash/sha256.ts'
import { createWorkspace, defineTool, mounts, readOnly, type WorkspaceOptions } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { type PermissionPattern, permissions } from '../../src/policy/index.ts'
import type { PolicyData, PolicyRule } from '../../src/policy/schema.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import type { Explanation, Workspace } from '../../src/workspace/create-workspace.ts'
import { times } from '../counts.ts'
import { type Answer, snapshot, type Tree } from '../tools/setup.ts'

const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`

const tree: Tree = {
  'src/a.ts': 'export const a = 1\n',
  'src/b.ts': 'export const b = 2\n',
  'src/b.md': '# b\n',
  'src/d/x.ts': 'x\n',
  'src/d/to-a': { link: '../a.ts' },
  'docs/empty/to-package': { link: '../../package.json' },
  'src/token.txt': `one\n${token}\ntwo\n`,
  'docs/a.md': 'one\ntwo\n',
  'docs/gen.pb.go': 'generated\n',
  'docs/empty/.keep': '',
  'notes/n1.md': 'note one\n',
  '.env': 'PASSWORD=hunter2\n',
  'package.json': '{"name":"a"}\n',
  'package-lock.json': '{}\n',
  'logo.png': new Uint8Array([137, 80, 78, 71, 0, 1]),
  'to-src': { link: 'src' },
  'to-b': { link: 'src/b.ts' },
  'to-env': { link: '.env' },
  'to-nothing': { link: 'gone.txt' },
  'a.test.ts': "it('adds', () => {})\n",
}

const existing = [...Object.keys(tree), 'to-src/b.ts', 'to-src/d', 'src/d/to-a/x']
const directories = ['src', 'docs', 'src/d', 'docs/empty', 'notes', '.', 'to-src', 'part', 'part/p']
const fresh = [
  'new.txt',
  'src/new.ts',
  'docs/new/deep/n.md',
  'to-src/new.ts',
  'src/.env',
  'part/new.txt',
  'other/n.txt',
  'dist/n.js',
]

const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values)
const anyPath = fc.oneof({ weight: 5, arbitrary: pick(...existing) }, pick(...directories), pick(...fresh))
const target = fc.oneof(
  pick(...fresh),
  pick('moved', 'docs/moved', 'src/moved', 'part/moved', 'src/a.ts', 'notes/m.md'),
)
const content = pick('x\n', 'one\ntwo\nthree\n', `${token}\n`, '', 'export const a = 9\n')
/** The version of the path, for most calls. */
const PRESENT = '(present)'
const version = pick<string | null | undefined>(PRESENT, PRESENT, PRESENT, undefined, null, 'a'.repeat(64))

const section = fc
  .tuple(pick('Add', 'Update', 'Delete'), anyPath, target, fc.boolean())
  .map(([kind, path, to, moves]) => {
    if (kind === 'Add') return `*** Add File: ${to}\n+x\n`
    if (kind === 'Delete') return `*** Delete File: ${path}\n`
    const text = tree[path]
    const first = typeof text === 'string' ? text.split('\n')[0] : 'one'
    return `*** Update File: ${path}\n${moves ? `*** Move to: ${to}\n` : ''}@@\n-${first}\n+changed\n`
  })
const patch = fc
  .uniqueArray(section, { minLength: 1, maxLength: 3 })
  .map((sections) => `*** Begin Patch\n${sections.join('')}*** End Patch\n`)

const firstLine = (path: string) => (typeof tree[path] === 'string' ? String(tree[path]).split('\n')[0] : 'one') || 'x'
const id = pick('n1', 'n2', 'deep/n3', 'x')
const query = pick('one', 'x', 'PASSWORD', 'export')

/** The inputs of every tool but those that run commands, whose changes are known only afterwards. */
const inputs = {
  read_file: fc.record({ path: anyPath }),
  list_directory: fc.record({ path: anyPath, maxDepth: pick(1, 5), includeHidden: fc.boolean() }),
  find_files: fc.record({ path: anyPath, pattern: pick('**', '**/*.ts') }),
  search_text: fc.record({ path: anyPath, query }),
  file_info: fc.record({ path: anyPath }),
  diff_workspace: fc.record({ paths: fc.uniqueArray(anyPath, { minLength: 1, maxLength: 2 }) }),
  write_file: fc.record({
    path: anyPath,
    content,
    mode: pick('CREATE_OR_REPLACE', 'CREATE_NEW', 'REPLACE_EXISTING'),
    expectedSha256: version,
    createParents: pick(true, true, false),
  }),
  append_file: fc.record({ path: anyPath, content, expectedSha256: version }),
  edit_file: anyPath.map((path) => ({ path, oldText: firstLine(path), newText: 'changed', expectedSha256: PRESENT })),
  replace_range: fc.record({
    path: anyPath,
    startLine: pick(1),
    endLine: pick(1),
    newText: content,
    expectedSha256: version,
  }),
  apply_patch: fc.record({ patch, dryRun: pick(false, false, true) }),
  create_directory: fc.record({ path: anyPath }),
  copy_file: fc.record({ path: fc.oneof(anyPath, pick(...directories)), to: target, createParents: pick(true, false) }),
  move_file: fc.record({ path: fc.oneof(anyPath, pick(...directories)), to: target, createParents: pick(true, false) }),
  delete_file: fc.record({ path: anyPath, expectedSha256: version }),
  memory_store: fc.record({ id, content, expectedSha256: version }),
  memory_get: fc.record({ id }),
  memory_search: fc.record({ query }),
  memory_recall: fc.record({}),
  submit_plan: fc.record({ plan: pick('Change a'), paths: pick(['src/**'], ['**']) }),
} satisfies Record<string, fc.Arbitrary<object>>

const call = fc.oneof(
  ...Object.entries(inputs).map(([tool, input]) => ({
    weight: /copy|move|patch|write_file/.test(tool) ? 4 : 1,
    arbitrary: (input as fc.Arbitrary<object>).map((each) => ({
      tool,
      input: each as Readonly<Record<string, unknown>>,
    })),
  })),
)

const globs = fc.uniqueArray(
  pick(
    'src/b.*',
    'src/**',
    '**/*.md',
    'docs/**',
    '**',
    'src/d/x.ts',
    'src/d',
    'moved/**',
    '*',
    'docs/moved/b.ts',
    'notes/**',
    '**/moved',
    'part/**',
  ),
  { minLength: 1, maxLength: 2 },
)
const permission = pick<PermissionPattern>(
  ...permissions.filter((name) => name.startsWith('file:')),
  ...(['file:change', 'file:view', 'file:*', 'memory:*', '*'] as const),
)
const rule = fc.record(
  {
    action: pick('allow' as const, 'ask' as const, 'deny' as const),
    permissions: fc.uniqueArray(permission, { minLength: 1, maxLength: 2 }),
    paths: globs,
    tools: fc.uniqueArray(pick(...Object.keys(inputs)), { minLength: 1, maxLength: 4 }),
    kinds: fc.uniqueArray(
      pick('TEXT_SOURCE' as const, 'SECRET_LIKE' as const, 'DIRECTORY' as const, 'LOCKFILE' as const),
      { minLength: 1 },
    ),
  },
  { requiredKeys: ['action'] },
)
const labels = {
  sources: [
    { label: 'confidential', paths: ['src/b.*', 'notes/n1.md'] },
    { label: 'internal', paths: ['src/d/**'] },
  ],
  sinks: [
    { name: 'published', ceiling: 'public', paths: ['docs/**'] },
    { name: 'handed', ceiling: 'public', paths: ['moved', 'moved/**', 'new.txt'], above: 'ask' },
  ],
} as const
const rareGlobs = fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, globs)
const policy: fc.Arbitrary<PolicyData> = fc
  .record({
    preset: pick(undefined, 'supervised' as const, ...Array<'autonomous'>(4).fill('autonomous')),
    rules: fc
      .array(rule, { maxLength: 3 })
      .map((all) => all.map((each, index): PolicyRule => ({ ...each, name: `rule ${index}` }))),
    deniedPaths: rareGlobs,
    readOnlyPaths: rareGlobs,
    allowedPaths: rareGlobs.map((all) => all && [...all, 'src/**']),
    tools: pick(undefined, undefined, { move_file: 'ask' }, { apply_patch: 'deny' }),
    labels: pick(undefined, labels),
    memory: pick(undefined, { path: 'notes' }),
    requireApprovalIf: pick(
      undefined,
      ['deletesFile', 'changesPublicApi'],
      ['touchesBuildFile', 'deletesOrSkipsTests'],
    ),
    limits: pick(undefined, undefined, { patchFiles: 1, patchDeletes: 1 }),
  })
  .map((data) => Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as PolicyData)

const backends = {
  memory: () => memory(tree),
  overlay: () => overlay(memory(tree)),
  mounts: () =>
    mounts({ '': memory(tree), part: memory({ 'p/q.txt': 'q\n' }), other: readOnly(memory({ 'o.txt': 'o\n' })) }),
  roots: () =>
    mounts({ '': readOnly(memory()), src: memory({ 'a.ts': 'a\n', 'b.ts': 'b\n', 'd/x.ts': 'x\n' }), docs: memory() }),
} satisfies Record<string, () => Backend>

const scenario = fc.record({
  policy,
  backend: pick(...(Object.keys(backends) as (keyof typeof backends)[])),
  mode: pick(...Array<'act'>(9).fill('act'), 'plan' as const),
  calls: fc.array(call, { minLength: 4, maxLength: 12 }),
})
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never

/** Refusals that do not depend on the state of the files. */
const refusals = new Set(
  'UNKNOWN_TOOL READ_ONLY PATH_REJECTED POLICY_DENIED POLICY_DENIED_SECRET PLAN_MODE TAINT_DENIED PATCH_BUDGET_EXCEEDED'.split(
    ' ',
  ),
)

interface Opened {
  readonly workspace: Workspace
  readonly backend: Backend
  questions: number
}

async function open({ policy, backend: name, mode }: Scenario): Promise<Opened> {
  const calls = { clock: 0, ids: 0 }
  const next = (name: keyof typeof calls) => {
    calls[name] += 1
    return calls[name]
  }
  const backend = backends[name]()
  const options: WorkspaceOptions = {
    ...{ backend, policy, mode, clock: () => 1000 * next('clock'), ids: () => `id-${next('ids')}` },
    run: { id: 'run' },
    approve() {
      opened.questions += 1
      return 'allow'
    },
  }
  const opened: Opened = { workspace: await createWorkspace(options), backend, questions: 0 }
  return opened
}

/** The input with the present version in place of {@link PRESENT}. */
async function withVersion({ backend }: Opened, { tool, input }: Scenario['calls'][number]): Promise<object> {
  if (input.expectedSha256 !== PRESENT) return input
  const path = tool === 'memory_store' ? `notes/${String(input.id)}.md` : String(input.path)
  const { expectedSha256: _, ...others } = input
  try {
    const { bytes } = await backend.read(await backend.canonical(path as Path))
    return { ...others, expectedSha256: sha256(bytes) }
  } catch {
    return others
  }
}

const counts = { calls: 0, allow: 0, ask: 0, deny: 0, refused: 0 }

/** Compares an explanation with the outcome of the call. */
function compare(explained: Explanation, answer: Answer, questions: number): string | undefined {
  const code = answer.ok ? 'ok' : String(answer.code)
  counts.calls += 1
  if (!explained.ok) {
    counts.refused += 1
    return code === explained.code && answer.message === explained.message
      ? undefined
      : `refused ${explained.code}: ${explained.message}`
  }
  const { verdict } = explained
  counts[verdict.decision] += 1
  if (verdict.decision === 'deny') {
    const isSame = code === verdict.code && answer.message === verdict.reason && answer.path === verdict.path
    return isSame && verdict.rules[0]?.action === 'deny' ? undefined : `deny ${verdict.code}: ${verdict.reason}`
  }
  // A call may fail for another reason before the question, and after it.
  const isAsked = questions === (verdict.decision === 'ask' ? 1 : 0)
  const isSame = answer.ok ? isAsked : !refusals.has(code) && (isAsked || questions === 0)
  return isSame ? undefined : verdict.decision
}

async function check(drawn: Scenario): Promise<void> {
  const subject = await open(drawn)
  const control = await open(drawn)
  for (const each of drawn.calls) {
    const input = await withVersion(subject, each)
    const explained = await subject.workspace.explainTool(each.tool, input)
    const asked = subject.questions
    expect(asked, 'questions of an explanation').toBe(control.questions)
    const answer = (await subject.workspace.callTool(each.tool, input)) as Answer
    const miss = compare(explained, answer, subject.questions - asked)
    if (miss !== undefined) expect.fail(JSON.stringify({ ...each, input, miss, answer }))
    expect(named(explained, answer), JSON.stringify({ explained, input })).toEqual([])
    // The other workspace was asked for no explanation: results, ids, times and records are the same.
    expect(answer).toEqual(await control.workspace.callTool(each.tool, input))
  }
  expect(await snapshot(subject.backend)).toEqual(await snapshot(control.backend))
  expect(subject.workspace.auditRecords()).toEqual(control.workspace.auditRecords())
  expect(subject.workspace.history()).toEqual(control.workspace.history())
  expect(subject.workspace.taint.origins()).toEqual(control.workspace.taint.origins())
  await subject.workspace.close()
  await control.workspace.close()
}

/** The paths that a denial names beside those of the call and the one that its refusal names. */
function named(explained: Explanation, answer: Answer): string[] {
  if (!explained.ok || explained.verdict.decision !== 'deny') return []
  const { accesses, verdict } = explained
  const known = [answer.path, ...accesses.flatMap(({ asked, path }) => [asked, path])]
  return [...verdict.rules.map(({ path }) => path), verdict.path].filter(
    (path) => path !== undefined && !known.includes(path),
  ) as string[]
}

afterAll(() => {
  console.log(`calls explained and made: ${counts.calls}; ${JSON.stringify(counts)}`)
})

describe('explain', () => {
  it('says what the call meets, and has no effect', async () => {
    const ofHiddenFile: Scenario = {
      policy: { deniedPaths: ['src/b.*'], allowedPaths: ['part/**', 'src/**'] },
      ...{ backend: 'memory', mode: 'act' },
      calls: [{ tool: 'move_file', input: { path: 'src', to: 'part/moved', createParents: true } }],
    }
    await fc.assert(fc.asyncProperty(scenario, check), { numRuns: times(12, 1500), examples: [[ofHiddenFile]] })
    expect(counts.calls).toBeGreaterThan(times(15, 10_000))
  })

  const move = { tool: 'move_file', input: { path: 'src', to: 'moved' } }
  const write = { tool: 'write_file', input: { path: 'docs/a.md', content: 'x\n' } }
  it.each<[string, PolicyData, typeof move | typeof write, object]>([
    [
      'a denied file below a moved directory',
      { preset: 'autonomous', deniedPaths: ['src/b.*'] },
      move,
      // The verdict does not name what policy hides.
      { decision: 'deny', code: 'POLICY_DENIED', path: 'src' },
    ],
    [
      'a read-only file below a moved directory',
      { preset: 'autonomous', readOnlyPaths: ['src/b.ts'] },
      move,
      { decision: 'deny', code: 'READ_ONLY', path: 'src/b.ts' },
    ],
    [
      'a replaced file that may not be read',
      { rules: [{ name: 'changes', action: 'allow', permissions: ['file:change'] }] },
      write,
      { decision: 'deny', reason: expect.stringContaining('file:read') },
    ],
    [
      'the risk of a change',
      { preset: 'autonomous', requireApprovalIf: ['touchesBuildFile'] },
      { ...move, input: { path: 'package.json', to: 'moved' } },
      { decision: 'ask' },
    ],
  ])('covers %s', async (_, policy, { tool, input }, verdict) => {
    const workspace = await createWorkspace({ backend: memory(tree), policy })
    expect(await workspace.explainTool(tool, input)).toMatchObject({ ok: true, verdict })
  })

  it('gives the verdict on the paths if the call would fail for another reason', async () => {
    const workspace = await createWorkspace({ backend: memory(tree), policy: 'autonomous' })
    const input = { path: 'docs/a.md', oldText: 'absent', newText: 'x' }
    expect(await workspace.call('edit_file', input)).toMatchObject({ code: 'EDIT_NO_MATCH' })
    expect(await workspace.explain('edit_file', input)).toMatchObject({ verdict: { decision: 'allow' } })
  })

  it.each([
    ['write_file', { content: 'x\n' }],
    ['edit_file', { oldText: 'x', newText: 'y' }],
    ['append_file', { content: 'x\n' }],
    ['copy_file', { to: 'hidden/to.md' }],
    ['move_file', { to: 'hidden/to.md' }],
    ['delete_file', {}],
    ['create_directory', {}],
    ['apply_patch', { patch: '--- a/hidden/x.md\n+++ b/hidden/x.md\n@@ -1 +1 @@\n-x\n+y\n' }],
    ['run_command', { command: 'echo x > hidden/x.md' }],
  ])('does not show whether a hidden file exists: %s', async (tool, input) => {
    const policy: PolicyData = { preset: 'autonomous', deniedPaths: ['hidden/**'] }
    const explained: Explanation[] = []
    for (const files of [{}, { 'hidden/x.md': 'x\n' }, { 'hidden/to.md': 'x\n', 'hidden/x.md': 'y\n' }]) {
      const workspace = await createWorkspace({ backend: memory(files), policy, shell: bash({ worker: false }) })
      const paths = tool === 'apply_patch' || tool === 'run_command' ? {} : { path: 'hidden/x.md' }
      explained.push(await workspace.explainTool(tool, { ...paths, ...input }))
    }
    expect(explained[0]).toMatchObject({ ok: true, verdict: { decision: 'deny' } })
    expect(explained).toEqual(explained.map(() => explained[0]))
    expect(JSON.stringify(explained)).not.toMatch(/file:write:/)
  })

  it('does not run the draft of an own tool', async () => {
    const touch = defineTool({
      ...{ name: 'touch', title: 'Touch', description: 'Touches', input: z.object({}), output: z.object({}) },
      ...{ permission: 'file:read', mutates: false, idempotent: true },
      plan: () => [{ permission: 'file:read', path: 'docs/a.md' }],
      draft: () => expect.fail('drafted'),
    })
    const workspace = await createWorkspace({ backend: memory(tree), policy: 'autonomous', extraTools: [touch] })
    expect(await workspace.explain('touch', {})).toMatchObject({ verdict: { decision: 'allow' } })
  })
})

describe('a change of a read-only part or a mount point', () => {
  it.each(['other/o.txt', 'part'])('is refused before anybody is asked: %s', async (path) => {
    const approve = vi.fn(() => 'allow' as const)
    const workspace = await createWorkspace({ backend: backends.mounts(), policy: 'supervised', approve })
    const code = path === 'part' ? 'POLICY_DENIED' : 'READ_ONLY'
    expect(await workspace.call('move_file', { path, to: 'moved' })).toMatchObject({ code })
    expect(approve).not.toHaveBeenCalled()
  })
})
