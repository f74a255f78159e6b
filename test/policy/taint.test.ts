import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, defineTool, type WorkspaceOptions, type WorkspaceRun } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { LabelPolicy } from '../../src/policy/labels.ts'
import { labelNames } from '../../src/policy/labels.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { isLong, times } from '../counts.ts'
import { snapshot } from '../tools/setup.ts'

const labels: LabelPolicy = {
  sources: [
    { label: 'internal', paths: ['team/**'] },
    { label: 'confidential', paths: ['people/**'] },
    { label: 'restricted', commands: ['whoami*'] },
  ],
  sinks: [
    { name: 'published', ceiling: 'public', paths: ['site/**'] },
    { name: 'handbook', ceiling: 'internal', paths: ['docs/**'], above: 'ask' },
    { name: 'uploads', ceiling: 'internal', commands: ['curl*'], hosts: ['*.example.com'] },
  ],
}

const files = {
  'team/plan.md': 'the plan is PLUM\nand more\n',
  'people/salaries.csv': 'ann,SEVENTY\nbob,80\n',
  'site/index.html': '<p>hello</p>\n',
  'docs/guide.md': '# Guide\n',
  'notes.md': 'notes\n',
  'shortcut.md': { link: 'people/salaries.csv' },
}

async function open(options: Partial<WorkspaceOptions> = {}) {
  return createWorkspace({
    backend: memory(files),
    policy: { preset: 'autonomous', labels },
    run: { id: 'run' },
    ...options,
  })
}

/** Actions of an agent that copies content it has read. */
const publish = { path: 'site/new.html', content: 'all I know\n', expectedSha256: null }

describe('the taint of a run', () => {
  it('rises with the label of read content, and never falls', async () => {
    const run = await open()
    expect(run.taint.label()).toBe('public')
    expect(await run.call('read_file', { path: 'notes.md' })).toMatchObject({ ok: true, label: 'public' })
    expect(await run.call('read_file', { path: 'people/salaries.csv' })).toMatchObject({ label: 'confidential' })
    expect(await run.call('read_file', { path: 'team/plan.md' })).toMatchObject({ label: 'internal' })
    expect(run.taint.label()).toBe('confidential')
    expect(run.taint.origin()).toEqual({
      label: 'confidential',
      callId: 'run-2',
      tool: 'read_file',
      path: 'people/salaries.csv',
    })
  })

  it('stays if no content reaches the model', async () => {
    const run = await open()
    await run.call('list_directory', { path: 'people' })
    await run.call('find_files', { pattern: '**/*.csv' })
    await run.call('search_text', { query: 'not there at all', excludeGlob: '{people,team}/**' })
    await run.call('read_file', { path: 'people/nothing.csv' })
    expect(run.taint.label()).toBe('public')
    expect(await run.call('write_file', publish)).toMatchObject({ ok: true })
  })

  const ways: [string, (run: WorkspaceRun) => Promise<unknown>][] = [
    ['a search hit', (run) => run.call('search_text', { query: 'SEVENTY' })],
    ['a search without a hit', (run) => run.call('search_text', { query: 'not there at all' })],
    ['a file over the size of a search', (run) => run.call('search_text', { query: 'x', maxFileBytes: 15 })],
    ['a count of hits', (run) => run.call('search_text', { query: 'SEVENTY', filesOnly: true })],
    ['a link', (run) => run.call('read_file', { path: 'shortcut.md' })],
    ['a hash', (run) => run.call('file_info', { path: 'people/salaries.csv' })],
    ['an edit', (run) => run.call('edit_file', { path: 'people/salaries.csv', oldText: 'bob', newText: 'eve' })],
    [
      'the passage of a failed edit',
      (run) => run.call('edit_file', { path: 'people/salaries.csv', oldText: 'ann,SIXTY', newText: '' }),
    ],
    [
      'a rehearsal',
      (run) => run.call('edit_file', { path: 'people/salaries.csv', oldText: 'bob', newText: 'eve', dryRun: true }),
    ],
    ['the diff of a deletion', (run) => run.call('delete_file', { path: 'people/salaries.csv' })],
    ['the diff of a move', (run) => run.call('move_file', { path: 'people', to: 'staff' })],
    ['a command', (run) => run.call('run_command', { command: 'cat people/salaries.csv' })],
    ['a recursive search of a command', (run) => run.call('run_command', { command: 'grep -r SEVENTY .' })],
  ]
  for (const [label, act] of ways) {
    it(`rises by ${label}`, async () => {
      const run = await open({ shell: bash() })
      await act(run)
      expect(run.taint.label()).toBe('confidential')
      expect(await run.call('write_file', publish)).toMatchObject({
        code: 'TAINT_DENIED',
        path: 'site/new.html',
        sink: 'published',
        ceiling: 'public',
        origin: { label: 'confidential', callId: 'run-1', path: 'people/salaries.csv' },
      })
    })
  }

  it.each([
    'case $(head -c 1 people/salaries.csv) in a) echo > site/a;; *) echo > site/z;; esac',
    'case $(head -c 1 people/salaries.csv) in a) cp people/salaries.csv site/a;; *) cp people/salaries.csv site/z;; esac',
    'if grep -q ann people/salaries.csv; then echo > package-lock.json; else echo > yarn.lock; fi',
    'if grep -q ann people/salaries.csv; then touch q; mv q site/a; fi',
  ])('rises with what refuses the changes of a command that has read: %s', async (command) => {
    const run = await open({ shell: bash({ worker: false }) })
    const refused = await run.call('run_command', { command })
    expect(refused).toMatchObject({ ok: false, label: 'confidential' })
    expect(refused).toMatchObject({ code: expect.stringMatching(/^(TAINT_DENIED|APPROVAL_REQUIRED)$/) })
    expect(await run.call('write_file', publish)).toMatchObject({ ok: false, code: 'TAINT_DENIED' })
    await run.close()
  })

  it('rises with the version in a refusal', async () => {
    const path = 'people/salaries.csv'
    for (const act of [
      (run: WorkspaceRun) => run.files.write(path, 'x', { expectedTag: 'other' }),
      (run: WorkspaceRun) => run.files.delete(path, { expectedSha256: 'a'.repeat(64) }),
      (run: WorkspaceRun) => run.files.batch((files) => files.delete(path, { expectedSha256: 'a'.repeat(64) })),
    ]) {
      const run = await open()
      await expect(act(run)).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
      expect(run.taint.label()).toBe('confidential')
    }
  })

  it('rises with the labelled names that a watch shows', async () => {
    const workspace = await open({ shell: bash({ worker: false }) })
    const run = workspace.run()
    const changes = (await run.files.watch('.'))[Symbol.asyncIterator]()
    await workspace.call('run_command', { command: 'touch notes2.md' })
    expect(await changes.next()).toMatchObject({ value: { paths: ['notes2.md'] } })
    expect(run.taint.label()).toBe('public')
    await workspace.call('run_command', { command: 'touch "$(head -c 3 people/salaries.csv)"' })
    expect(await changes.next()).toMatchObject({ value: { paths: ['ann'] } })
    expect(run.taint.label()).toBe('confidential')
    await workspace.close()
  })

  it('rises with the diff of the workspace', async () => {
    const workspace = await open()
    const editor = workspace.run({ id: 'editor' })
    await editor.call('edit_file', { path: 'team/plan.md', oldText: 'PLUM', newText: 'PEAR' })
    expect(workspace.taint.label()).toBe('public')
    expect(await workspace.call('diff_workspace', {})).toMatchObject({ label: 'internal' })
    expect(workspace.taint.origin()).toMatchObject({ path: 'team/plan.md' })
  })

  it('rises with the output of a labelled command', async () => {
    const run = await open({ shell: bash() })
    expect(await run.call('run_command', { command: 'echo a && whoami' })).toMatchObject({ label: 'restricted' })
    expect(await run.call('write_file', publish)).toMatchObject({
      code: 'TAINT_DENIED',
      origin: { tool: 'run_command' },
    })
  })

  it('belongs to one run', async () => {
    const workspace = await open()
    const a = workspace.run({ id: 'a' })
    const b = workspace.run({ id: 'b' })
    await a.call('read_file', { path: 'people/salaries.csv' })
    expect(b.taint.label()).toBe('public')
    expect(await b.call('write_file', publish)).toMatchObject({ ok: true, label: 'public' })
    const fork = await workspace.fork()
    expect(fork.taint.label()).toBe('public')
  })

  it('continues in another process if it is passed on', async () => {
    const first = await open()
    await first.call('read_file', { path: 'team/plan.md' })
    const taint = JSON.parse(JSON.stringify(first.taint.origin()))
    const later = await open({ run: { id: 'later', taint } })
    expect(await later.call('write_file', publish)).toMatchObject({ code: 'TAINT_DENIED', origin: { callId: 'run-1' } })
  })

  it('can be raised but not lowered by a hook', async () => {
    const run = await open({
      hooks: {
        postToolResponse: ({ tool, result }) => ({ ...result, label: tool === 'file_info' ? 'restricted' : 'public' }),
      },
    })
    expect(await run.call('read_file', { path: 'team/plan.md' })).toMatchObject({ label: 'internal' })
    expect(await run.call('file_info', { path: 'notes.md' })).toMatchObject({ label: 'restricted' })
    expect(run.taint.label()).toBe('restricted')
  })
})

describe('a sink', () => {
  it('prevents every change if it denies', async () => {
    const backend = memory(files)
    const run = await open({ backend, shell: bash() })
    await run.call('read_file', { path: 'people/salaries.csv' })
    const before = await snapshot(backend)
    const calls: [string, Record<string, unknown>][] = [
      ['write_file', publish],
      ['append_file', { path: 'site/index.html', content: 'x' }],
      ['edit_file', { path: 'site/index.html', oldText: 'hello', newText: 'x' }],
      ['create_directory', { path: 'site/ann/SEVENTY' }],
      ['copy_file', { path: 'notes.md', to: 'site/notes.md' }],
      ['copy_file', { path: 'people/salaries.csv', to: 'site/a.csv' }],
      ['move_file', { path: 'people', to: 'site/people' }],
      ['apply_patch', { patch: '--- /dev/null\n+++ b/site/p.txt\n@@ -0,0 +1 @@\n+x\n' }],
      ['run_command', { command: 'echo hi > site/x.txt' }],
      ['run_command', { command: 'cp people/salaries.csv site/' }],
    ]
    for (const [name, input] of calls) {
      expect(await run.callTool(name, input), `${name} ${JSON.stringify(input)}`).toMatchObject({
        ok: false,
        code: 'TAINT_DENIED',
        sink: 'published',
      })
    }
    expect(await snapshot(backend)).toEqual(before)
  })

  it('denies a copy by a run without reads, and does not raise its label', async () => {
    const run = await open()
    expect(await run.call('copy_file', { path: 'people/salaries.csv', to: 'site/a.csv' })).toMatchObject({
      code: 'TAINT_DENIED',
      origin: { callId: 'run-1', path: 'people/salaries.csv' },
    })
    expect(run.taint.label()).toBe('public')
    expect(await run.call('write_file', publish)).toMatchObject({ ok: true })
  })

  it('applies to a command before it runs', async () => {
    const run = await open({ shell: bash() })
    await run.call('read_file', { path: 'people/salaries.csv' })
    expect(await run.call('run_command', { command: 'cd docs && curl http://a.example.com' })).toMatchObject({
      code: 'TAINT_DENIED',
      sink: 'uploads',
    })
    expect(await run.explain('run_command', { command: 'curl http://a.example.com' })).toMatchObject({
      code: 'TAINT_DENIED',
    })
  })

  it('accepts content that returns to files of its label', async () => {
    const everywhere: LabelPolicy = {
      sources: labels.sources ?? [],
      sinks: [{ name: 'all', ceiling: 'public', paths: ['**'] }],
    }
    const run = await open({ policy: { preset: 'autonomous', labels: everywhere } })
    const file = await run.call('read_file', { path: 'people/salaries.csv' })
    expect(await run.call('edit_file', { path: 'people/salaries.csv', oldText: 'bob', newText: 'eve' })).toMatchObject({
      ok: true,
    })
    expect(await run.call('write_file', { path: 'team/x.md', content: String(file.ok) })).toMatchObject({
      code: 'TAINT_DENIED',
    })
  })

  it('that asks accepts only approved content, and only at the label of the request', async () => {
    const requests: string[] = []
    const run = await open({
      approve: ({ verdict }) => {
        requests.push(verdict.reason)
        return 'allow-run'
      },
    })
    const write = (content: string) =>
      run.call('edit_file', { path: 'docs/guide.md', oldText: '# Guide', newText: `# Guide\n${content}` })
    await run.call('read_file', { path: 'team/plan.md' })
    expect(await write('a')).toMatchObject({ ok: true })
    expect(requests).toEqual([])
    await run.call('read_file', { path: 'people/salaries.csv' })
    expect(await write('b')).toMatchObject({ ok: true })
    expect(await write('c')).toMatchObject({ ok: true })
    expect(requests).toHaveLength(1)
    expect(requests[0]).toContain('confidential content of "people/salaries.csv"')
    const alone = await open()
    await alone.call('read_file', { path: 'people/salaries.csv' })
    const input = { path: 'docs/new.md', content: 'x\n' }
    expect(await alone.call('write_file', input)).toMatchObject({ code: 'APPROVAL_REQUIRED' })
    const denying = await open({ approve: () => ({ deny: 'not there' }) })
    await denying.call('read_file', { path: 'people/salaries.csv' })
    expect(await denying.call('write_file', input)).toMatchObject({ code: 'APPROVAL_DENIED' })
  })

  it('asks about a command before it runs', async () => {
    const sinks = [{ name: 'shell', ceiling: 'public', commands: ['*'], above: 'ask' }] as const
    let requests = 0
    const run = await open({
      shell: bash(),
      policy: { preset: 'autonomous', labels: { ...labels, sinks } },
      approve: () => {
        requests += 1
        return { deny: 'no' }
      },
    })
    expect(await run.call('run_command', { command: 'echo a > a.txt' })).toMatchObject({ ok: true })
    await run.call('read_file', { path: 'team/plan.md' })
    expect(await run.call('run_command', { command: 'echo a > b.txt' })).toMatchObject({ code: 'APPROVAL_DENIED' })
    expect(requests).toBe(1)
  })
})

describe('labels cannot be removed', () => {
  it('through an unlabelled file, in another run, or after undo and redo', async () => {
    const workspace = await open()
    const a = workspace.run({ id: 'a' })
    const b = workspace.run({ id: 'b' })
    const c = workspace.run({ id: 'c' })
    const copied = await a.call('copy_file', { path: 'people/salaries.csv', to: 'tmp/a.txt' })
    expect(copied).toMatchObject({ ok: true })
    await b.call('move_file', { path: 'tmp/a.txt', to: 'b.txt' })
    expect(b.taint.label()).toBe('confidential')
    const fork = await workspace.fork()
    const files: [WorkspaceRun, string][] = [
      [c, 'b.txt'],
      [fork, 'b.txt'],
    ]
    for (const [run, path] of files) {
      expect(await run.call('read_file', { path })).toMatchObject({ label: 'confidential' })
      expect(await run.call('write_file', publish)).toMatchObject({ code: 'TAINT_DENIED', origin: { path } })
    }
    const d = workspace.run({ id: 'd' })
    const undone = await b.call('copy_file', { path: 'b.txt', to: 'c.txt' })
    if (!undone.ok) throw new Error(undone.message)
    const back = await workspace.undo(undone.callId)
    if (!back.ok) throw new Error(back.message)
    await workspace.undo(back.callId)
    expect(await d.call('read_file', { path: 'c.txt' })).toMatchObject({ ok: true, label: 'confidential' })
  })

  it('through the commit of a fork', async () => {
    const workspace = await open()
    const fork = await workspace.fork()
    await fork.call('copy_file', { path: 'people/salaries.csv', to: 'x.txt' })
    expect(await fork.commit()).toMatchObject({ ok: true })
    expect(await workspace.call('read_file', { path: 'x.txt' })).toMatchObject({ label: 'confidential' })
  })

  it('through a read by one call and a write by another', async () => {
    const workspace = await open()
    const a = workspace.run({ id: 'a' })
    await a.call('read_file', { path: 'team/plan.md' })
    await a.call('write_file', { path: 'notes/summary.md', content: 'PLUM\n' })
    const b = workspace.run({ id: 'b' })
    expect(await b.call('search_text', { query: 'PLUM', path: 'notes' })).toMatchObject({ label: 'internal' })
    expect(await b.call('write_file', publish)).toMatchObject({ code: 'TAINT_DENIED' })
  })

  it('through any sequence of calls of two agents that copy everything', async () => {
    const places = ['team/a.txt', 'people/b.txt', 'site/c.txt', 'free/d.txt', 'free/e.txt', 'docs/f.txt']
    const place = fc.constantFrom(...places)
    const step = fc.record({
      who: fc.integer({ min: 0, max: 1 }),
      act: fc.constantFrom('read', 'search', 'write', 'append', 'copy', 'move', 'shell', 'diff', 'undo', 'artifact'),
      a: place,
      b: place,
    })
    const ceilings = { 'site/': 'public', 'docs/': 'internal' } as const
    const tokens = { 'team/a.txt': ['TEAMTOKEN', 'internal'], 'people/b.txt': ['PEOPLETOKEN', 'confidential'] } as const
    let spread = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 30 }), async (steps) => {
        const backend = memory({
          ...Object.fromEntries(places.map((path) => [path, 'start\n'])),
          'team/a.txt': 'TEAMTOKEN\n',
          'people/b.txt': 'PEOPLETOKEN\n',
        })
        const workspace = await open({ backend, shell: bash() })
        const runs = [workspace.run({ id: 'a' }), workspace.run({ id: 'b' })]
        const cached = ['', '']
        const calls: string[] = []
        const artifacts: string[][] = [[], []]
        for (const { who, act, a, b } of steps) {
          const run = runs[who] as WorkspaceRun
          const acts: Record<string, () => Promise<unknown>> = {
            read: () => run.call('read_file', { path: a }),
            search: () => run.call('search_text', { query: 'TOKEN' }),
            write: async () => {
              // Passes the correct version, as if the agent knew it.
              const { bytes } = await backend.read(a as Path).catch(() => ({ bytes: undefined }))
              const expectedSha256 = bytes === undefined ? null : createHash('sha256').update(bytes).digest('hex')
              return run.call('write_file', { path: a, content: `${cached[who]}\n`, expectedSha256 })
            },
            append: () => run.call('append_file', { path: a, content: `${cached[who]}\n` }),
            copy: () => run.call('copy_file', { path: a, to: b }),
            move: () => run.call('move_file', { path: a, to: b }),
            shell: () => run.call('run_command', { command: `cat ${a} >> ${b}` }),
            diff: () => run.call('diff_workspace', {}),
            undo: () => run.undo(calls.at(-1) ?? 'none'),
            artifact: () => run.call('read_file', { path: artifacts[who]?.at(-1) ?? 'artifact://a/b' }),
          }
          const result = (await acts[act]?.()) as { ok: boolean; callId?: string; artifactUri?: string }
          if (result.callId !== undefined) calls.push(result.callId)
          if (result.artifactUri !== undefined) artifacts[who]?.push(result.artifactUri)
          for (const token of ['TEAMTOKEN', 'PEOPLETOKEN']) {
            if (JSON.stringify(result).includes(token) && !cached[who]?.includes(token)) cached[who] += token
          }
          const run2 = runs[who] as WorkspaceRun
          for (const [token, label] of Object.values(tokens)) {
            // A run that received a token has at least its label.
            if (cached[who]?.includes(token)) {
              expect(labelNames.indexOf(run2.taint.label())).toBeGreaterThanOrEqual(labelNames.indexOf(label))
            }
          }
        }
        for (const [path, content] of Object.entries(await snapshot(backend))) {
          for (const [token, label] of Object.values(tokens)) {
            if (content.includes(token) && tokens[path as keyof typeof tokens]?.[0] !== token) spread += 1
            for (const [prefix, ceiling] of Object.entries(ceilings)) {
              const isTooHigh = labelNames.indexOf(label) > labelNames.indexOf(ceiling)
              if (path.startsWith(prefix) && isTooHigh) expect(content).not.toContain(token)
            }
          }
        }
        await workspace.close()
      }),
      { numRuns: times(10, 100) },
    )
    // The agents have copied content.
    expect(spread).toBeGreaterThan(times(2, 40))
  })
})

/** Contents of two restricted files. A result that differs between two of them depends on restricted content. */
const contents = [
  'pin 4711\n',
  'pin 9\n',
  `${'long '.repeat(60)}\n`,
  'pin 4711\n\u0000',
  '\ufeffpin\r\n',
  '',
  '---\nx\n',
]

const scanner = defineTool({
  ...{ name: 'scanner', title: 'Scanner', description: 'Counts files', permission: 'file:search' },
  ...{ mutates: false, idempotent: true, input: z.strictObject({ minBytes: z.int() }) },
  output: z.object({ count: z.number() }),
  plan: () => [{ permission: 'file:search', path: '.', recursive: true }],
  async draft({ minBytes }, { files }) {
    const paths = await files.candidates('' as Path, { includeHidden: true, includeIgnored: true })
    let count = 0
    const counted = (_: Path, bytes: Uint8Array) => {
      if (bytes.length > minBytes) count += 1
      return false
    }
    await files.scan(paths, counted, () => true)
    return { summary: `${count}`, result: () => ({ count }) }
  },
})

/** In `npm test`, every fourth one: each query, place and option with another one. */
const isTried = (...places: readonly number[]) => isLong || places.reduce((sum, place) => sum + place) % 4 === 0

const searches = ['4711', '^pin [^4]', 'absent', '^$'].flatMap((query, at) =>
  [{}, { path: 'conf' }, { path: 'conf/k.txt' }, { includeGlob: '**/*.txt' }, { path: 'open' }].flatMap((where, of) =>
    [{}, { filesOnly: true }, { maxFileBytes: 100 }, { maxMatches: 1 }, { hashes: true }]
      .filter((_, place) => isTried(at, of, place))
      .map((option) => ['search_text', { query, mode: 'regex', ...where, ...option }] as const),
  ),
)

const looks: readonly (readonly [string, object])[] = [
  ...searches,
  ...['4711', 'absent', 'open'].flatMap((query) => [
    ['memory_search', { query }] as const,
    ['memory_search', { query, maxResults: 1 }] as const,
    ['memory_recall', { query }] as const,
  ]),
  ['memory_recall', {}],
  ['memory_recall', { maxNotes: 1 }],
  ['memory_get', { id: 'k' }],
  ['scanner', { minBytes: 12 }],
  ['list_directory', { path: 'conf' }],
  ['list_directory', { maxDepth: 3 }],
  ['find_files', { pattern: '**' }],
  ['file_info', { path: 'conf/k.txt' }],
  ['read_file', { path: 'conf/k.txt', startLine: 3 }],
  ['edit_file', { path: 'conf/k.txt', oldText: '4711', newText: 'x', dryRun: true }],
  ['replace_range', { path: 'conf/k.txt', startLine: 1, endLine: 1, newText: '', expectedSha256: '0'.repeat(64) }],
  ['append_file', { path: 'conf/k.txt', content: 'x' }],
  ...['4711', 'absent', '^pin [^4]'].flatMap((query, at) =>
    ['grep -rl', 'grep -rL', 'grep -r', 'rg -l', 'rg', 'rg --max-filesize 100'].flatMap((search, of) =>
      ['.', 'conf', 'conf/k.txt', 'open']
        .filter((_, place) => isTried(at, of, place))
        .map((where) => ['run_command', { command: `${search} '${query}' ${where}` }] as const),
    ),
  ),
  ['run_command', { command: 'grep -rq 4711 conf && echo yes' }],
  ['run_command', { command: 'find conf -size -20c' }],
  ['run_command', { command: 'rg -q absent conf || echo no' }],
]

describe('a result that depends on labelled content', () => {
  async function outcome(content: string, [name, input]: (typeof looks)[number], isTainted: boolean) {
    const workspace = await createWorkspace({
      backend: memory({
        ...{ 'a.txt': 'pin 4711\n', 'open/b.txt': 'pin 1\n', 'conf/k.txt': content, 'conf/other.txt': 'other\n' },
        ...{ 'memory/a.md': 'open 4711\n', 'memory/k.md': content },
      }),
      policy: {
        preset: 'autonomous',
        labels: { sources: [{ label: 'restricted', paths: ['conf/**', 'memory/k.md'] }] },
        memory: { path: 'memory' },
      },
      ...{ tools: 'full', extraTools: [scanner], shell, ids: () => 'id', clock: () => 0 },
    })
    if (isTainted) await workspace.call('read_file', { path: 'conf/other.txt' })
    const { label, ...result } = (await workspace.callTool(name, input)) as unknown as Record<string, unknown>
    return { label, taint: workspace.taint.label(), result: JSON.stringify(result) }
  }
  const shell = bash({ worker: false })

  it.each(isLong ? [false, true] : [true])(
    'has its label, whether or not it shows it; in a tainted run: %s',
    async (isTainted) => {
      let depending = 0
      let free = 0
      for (const look of isTainted ? looks.slice(searches.length) : looks) {
        const outcomes = await Promise.all(contents.map((content) => outcome(content, look, isTainted)))
        const differs = new Set(outcomes.map(({ result }) => result)).size > 1
        depending += differs ? 1 : 0
        free += outcomes.every(({ label }) => label === 'public') ? 1 : 0
        const labels = [...new Set(outcomes.flatMap(({ label, taint }) => [label, taint]))]
        if (differs) expect(labels, JSON.stringify(look)).toEqual(['restricted'])
      }
      expect(depending).toBeGreaterThan(isTainted ? times(10, 40) : times(20, 80))
      if (!isTainted) expect(free).toBeGreaterThan(times(3, 15))
    },
  )

  it('names a way out if a search raises the taint', async () => {
    const run = await open()
    const warning = expect.stringMatching(/Searched files are confidential: narrow path or globs/)
    expect(await run.call('search_text', { query: 'absent' })).toMatchObject({ warnings: [warning] })
    expect(await run.call('search_text', { query: 'absent' })).toMatchObject({ label: 'confidential', warnings: [] })
  })

  it('does not count files after the end of a search', async () => {
    const run = await open({ backend: memory({ 'a.txt': 'PLUM\nPLUM\n', 'people/x.txt': 'PLUM\n' }) })
    const result = await run.call('search_text', { query: 'PLUM', maxMatches: 1 })
    expect(result).toMatchObject({ truncatedReason: 'maxMatches', label: 'public' })
  })
})

describe('the labels of a policy', () => {
  it('are refused if they are empty or invalid', async () => {
    const wrong: [unknown, RegExp][] = [
      [{ sources: [{ label: 'secret', paths: ['a'] }] }, /labels\.sources\[0\]\.label.*"public" or "internal"/],
      [{ sources: [{ label: 'internal' }] }, /labels\.sources\[0\].*needs paths or commands/],
      [{ sinks: [{ name: 'x', ceiling: 'public' }] }, /labels\.sinks\[0\].*needs paths, commands or hosts/],
      [{ sinks: [{ name: 'x', ceiling: 'public', path: ['a'] }] }, /labels\.sinks\[0\]\.path.*unknown.*paths/],
      [{ sinks: [{ name: 'x', ceiling: 'public', paths: [] }] }, /must not be empty/],
      [{ sources: [{ label: 'internal', paths: ['!a'] }] }, /labels\.sources\[0\]\.paths\[0\].*glob/],
    ]
    for (const [labels, message] of wrong) {
      const policy = { preset: 'autonomous', labels } as unknown as WorkspaceOptions['policy']
      await expect(createWorkspace({ backend: memory(), policy }), JSON.stringify(labels)).rejects.toThrow(message)
    }
  })

  it('are absent from results without a label policy', async () => {
    const run = await open({ policy: 'autonomous' })
    expect(await run.call('read_file', { path: 'people/salaries.csv' })).not.toHaveProperty('label')
  })

  it('are refused with the field of an invalid pattern', async () => {
    const { compileLabels } = await import('../../src/policy/compile-labels.ts')
    const long = ['*'.repeat(5000)]
    const sink = { name: 'a', ceiling: 'public' } as const
    const wrong: [LabelPolicy, string][] = [
      [{ sources: [{ label: 'internal', paths: ['/a'] }] }, 'labels.sources[0].paths[0]'],
      [{ sources: [{ label: 'internal', commands: long }] }, 'labels.sources[0].commands[0]'],
      [{ sinks: [{ ...sink, paths: ['/a'] }] }, 'labels.sinks[0].paths[0]'],
      [{ sinks: [{ ...sink, commands: long }] }, 'labels.sinks[0].commands[0]'],
      [{ sinks: [{ ...sink, hosts: long }] }, 'labels.sinks[0].hosts[0]'],
    ]
    for (const [policy, field] of wrong) expect(() => compileLabels(policy)).toThrow(`Policy field "${field}" is `)
  })

  it('are public without a source, and the highest of all matching sources', async () => {
    const { compileLabels } = await import('../../src/policy/compile-labels.ts')
    const { isLabel } = await import('../../src/policy/taint.ts')
    const compiled = compileLabels({
      sources: [
        { label: 'restricted', paths: ['a/b/**'], commands: ['a b*'] },
        { label: 'internal', paths: ['a/**'], commands: ['a*'] },
      ],
      sinks: [
        { name: 'asks', ceiling: 'internal', paths: ['**'], above: 'ask' },
        { name: 'refuses', ceiling: 'internal', paths: ['x'], commands: ['x'] },
        { name: 'says so', ceiling: 'internal', paths: ['x'], above: 'deny' },
        { name: 'asks too', ceiling: 'public', commands: ['*'], above: 'ask' },
      ],
    })
    expect(['a/b/c', 'a/c', 'c'].map(compiled.ofPath)).toEqual(['restricted', 'internal', 'public'])
    expect(['a b', 'a c', 'c'].map(compiled.ofCommand)).toEqual(['restricted', 'internal', 'public'])
    const sinks = (...above: Parameters<typeof compiled.exceededSinks>) =>
      compiled.exceededSinks(...above).map(({ name }) => name)
    expect(sinks({ paths: ['x'] }, 'restricted')).toEqual(['refuses', 'says so', 'asks'])
    expect(sinks({ commands: ['x'] }, 'restricted')).toEqual(['refuses', 'asks too'])
    expect(sinks({ commands: ['y'] }, 'internal')).toEqual(['asks too'])
    expect(sinks({ commands: ['y'] }, 'public')).toEqual([])
    expect(sinks({ host: 'x' }, 'restricted')).toEqual([])
    expect(sinks({}, 'restricted')).toEqual([])
    expect(compileLabels(undefined)).toMatchObject({ active: false })
    expect(compileLabels(undefined).ofPath('a')).toBe('public')
    expect(['public', 'restricted', 'secret', '', undefined, 0].map(isLabel)).toEqual([
      ...[true, true, false, false, false, false],
    ])
  })

  it('match hosts in any letter case, with and without a final dot', async () => {
    const { compileLabels } = await import('../../src/policy/compile-labels.ts')
    const compiled = compileLabels(labels)
    expect(compiled.exceededSinks({ host: 'API.Example.COM' }, 'confidential')).toHaveLength(1)
    expect(compiled.exceededSinks({ host: 'api.example.com.' }, 'confidential')).toHaveLength(1)
    expect(compiled.exceededSinks({ host: 'api.example.com' }, 'internal')).toHaveLength(0)
    expect(compiled.exceededSinks({ host: 'example.org' }, 'restricted')).toHaveLength(0)
  })
})

describe('createTaint', () => {
  it('records the origin of each higher label, and no public one', async () => {
    const { compileLabels } = await import('../../src/policy/compile-labels.ts')
    const { createTaint } = await import('../../src/policy/taint.ts')
    const taint = createTaint({ label: 'public', path: 'a' } as never)
    expect(taint.origins()).toEqual([])
    taint.raise({ label: 'internal', path: 'b' } as never)
    taint.raise({ label: 'internal', path: 'c' } as never)
    taint.raise({ label: 'restricted', path: 'd' } as never)
    expect(taint.origins()).toEqual([
      { label: 'internal', path: 'b' },
      { label: 'restricted', path: 'd' },
    ])
    expect(compileLabels(labels).exceededSinks({ paths: ['site/a'] }, 'public')).toEqual([])
  })
})
