import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import {
  createWorkspace,
  type PolicyInput,
  type Success,
  type Workspace,
  type WorkspaceOptions,
} from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { snapshot } from './setup.ts'
import { hiddenCallsAt, toolRows } from './table.ts'

const note = (scopes: string, text: string) =>
  `---\ntitle: "About ${text}"\nscopes: ${scopes}\n---\n\nIt says ${text}.\n`

const tree = {
  'src/app.ts': 'export const answer = 41\n',
  'memory/open.md': '# Open\n\nIt says MULBERRY.\n',
  'memory/red.md': note('[red]', 'CRIMSON'),
  'memory/deep/blue.md': note('["blue"]', 'COBALT'),
  'memory/broken.md': '---\nscopes: {red: true}\n---\n\nIt says FRACTURE.\n',
  'memory/no-note.txt': 'It says PLAINTEXT.\n',
  'memory/.hidden.md': 'It says CONCEALED.\n',
  'to-red': { link: 'memory/red.md' },
  'to-memory': { link: 'memory' },
  'memory/out.md': { link: '../src/app.ts' },
}

const words = ['MULBERRY', 'CRIMSON', 'COBALT', 'FRACTURE', 'PLAINTEXT', 'CONCEALED']
const shownIn = (text: string) =>
  words.filter((word) => text.includes(word) || text.includes([...word].reverse().join('')))

function open(
  policy: Partial<Exclude<PolicyInput, string>> = {},
  options: Partial<WorkspaceOptions> = {},
): Promise<Workspace> {
  const { memory: notes = { acl: true } } = policy
  return createWorkspace({
    backend: memory(tree),
    policy: { preset: 'autonomous', memory: notes, ...policy },
    shell: bash(),
    run: { id: 'run', ...(notes.acl === true && { scopes: ['red'] }) },
    ...options,
  })
}

const names = (workspace: Workspace) =>
  workspace.tools.map(({ name }) => name).filter((name) => name.startsWith('memory_'))

describe('memory tools', () => {
  it('exist if the policy has a memory, memory_recall only without the ACL', async () => {
    expect(names(await open({ memory: {} }))).toEqual(['memory_search', 'memory_get', 'memory_recall', 'memory_store'])
    const closed = await open()
    expect(names(closed)).toEqual(['memory_search', 'memory_get', 'memory_store'])
    expect(await closed.call('memory_recall', {})).toMatchObject({ code: 'UNKNOWN_TOOL' })
    const none = await createWorkspace({ backend: memory(tree), policy: 'autonomous' })
    expect(names(none)).toEqual([])
    expect(await none.call('memory_get', { id: 'open' })).toMatchObject({ code: 'UNKNOWN_TOOL' })
    const sealed = await open({}, { readOnly: true })
    expect(names(sealed)).toEqual(['memory_search', 'memory_get'])
    expect(await sealed.call('memory_store', { id: 'x', content: 'x' })).toMatchObject({ code: 'READ_ONLY' })
  })

  it('store, get, find, recall and replace notes', async () => {
    const workspace = await open({ memory: { path: 'notes' } })
    const first = await workspace.call('memory_store', {
      ...{ id: 'decisions/storage', title: 'Storage: "why"', content: 'We use a tree.\nIt is PERSISTENT.\n' },
      ...{ labels: ['design'], reason: 'to remember' },
    })
    expect(first).toMatchObject({ ok: true, created: true, oldSha256: null, labels: ['design'], scopes: [] })
    expect(await workspace.call('memory_get', { id: 'decisions/storage' })).toMatchObject({
      ok: true,
      title: 'Storage: "why"',
      content: 'We use a tree.\nIt is PERSISTENT.\n',
      labels: ['design'],
      sha256: (first as Success).newSha256,
    })
    expect(await workspace.call('memory_search', { query: 'persistent nowhere' })).toMatchObject({
      matches: [{ id: 'decisions/storage', line: 2, snippet: 'It is PERSISTENT.' }],
    })
    expect(await workspace.call('memory_recall', { query: 'tree' })).toMatchObject({
      notes: [{ id: 'decisions/storage', content: 'We use a tree.\nIt is PERSISTENT.\n' }],
    })
    // This run has read the whole note; the other run has not.
    const other = workspace.run()
    const again = { id: 'decisions/storage', content: 'We use two.\n' }
    expect(await other.call('memory_store', again)).toMatchObject({ code: 'WRITE_CONFLICT' })
    expect(await workspace.call('memory_store', again)).toMatchObject({ ok: true, created: false, labels: ['design'] })
    expect(await workspace.call('read_file', { path: 'notes/decisions/storage.md' })).toMatchObject({
      content: '---\nid: "decisions/storage"\ntitle: "Storage: \\"why\\""\nlabels: ["design"]\n---\n\nWe use two.\n',
    })
    expect(await workspace.undo((await lastOf(workspace)).toolCallId)).toMatchObject({ ok: true })
    expect(await workspace.call('memory_get', { id: 'decisions/storage' })).toMatchObject({
      sha256: (first as Success).newSha256,
    })
  })

  it.each(['../src/app', 'a/../../b', '/etc/x', '.env', 'a//b', 'a.md', '', 'x'.repeat(201)])(
    'take no id %j',
    async (id) => {
      const workspace = await open()
      for (const [tool, input] of [
        ['memory_get', { id }],
        ['memory_store', { id, content: 'x' }],
      ] as const) {
        expect(await workspace.callTool(tool, input)).toMatchObject({ code: 'INVALID_INPUT' })
      }
    },
  )

  it('are subject to policy', async () => {
    const workspace = await open({
      preset: 'supervised',
      rules: [{ name: 'not that', action: 'deny', permissions: ['memory:read'], paths: ['memory/open.md'] }],
    })
    expect(await workspace.call('memory_get', { id: 'open' })).toMatchObject({ code: 'POLICY_DENIED' })
    expect(await workspace.call('memory_search', { query: 'MULBERRY CRIMSON' })).toMatchObject({
      matches: [{ id: 'red' }],
    })
    expect(await workspace.call('memory_store', { id: 'x', content: 'x' })).toMatchObject({ code: 'APPROVAL_REQUIRED' })
  })
})

const lastOf = async (workspace: Workspace) => workspace.auditRecords().at(-3) as { toolCallId: string }

describe('the memory ACL', () => {
  it('shows each caller the notes of its scopes and those without scopes', async () => {
    const workspace = await open()
    const all = { query: 'says', maxResults: 50 }
    const seenBy = async (scopes: string[]) => {
      const run = workspace.run({ scopes })
      const search = (await run.call('memory_search', all)) as Success
      const ids = (search.matches as { id: string }[]).map(({ id }) => id).sort()
      for (const id of ['open', 'red', 'deep/blue', 'broken', 'out']) {
        const note = await run.call('memory_get', { id })
        if (ids.includes(id)) expect(note).toMatchObject({ ok: true, id })
        else
          expect(note).toEqual({
            ...(await run.call('memory_get', { id: 'nowhere' })),
            message: expect.stringContaining(id),
          })
      }
      return ids
    }
    expect(await seenBy([])).toEqual(['.hidden', 'open'])
    expect(await seenBy(['red'])).toEqual(['.hidden', 'open', 'red'])
    expect(await seenBy(['blue', 'red'])).toEqual(['.hidden', 'deep/blue', 'open', 'red'])
    expect(await seenBy(['re', 'Red', ''])).toEqual(['.hidden', 'open'])
  })

  it('lets a caller store only for its own scopes, and keeps the notes of others', async () => {
    const workspace = await open()
    const store = (input: object, scopes: string[]) =>
      workspace.run({ scopes }).callTool('memory_store', { content: 'x', ...input })
    expect(await store({ id: 'mine' }, ['red', 'green'])).toMatchObject({ ok: true, scopes: ['red', 'green'] })
    expect(await store({ id: 'one', scopes: ['red'] }, ['red', 'green'])).toMatchObject({ ok: true, scopes: ['red'] })
    expect(await store({ id: 'free' }, [])).toMatchObject({ ok: true, scopes: [] })
    // A note without scopes stays open to all, regardless of its writer.
    const free = (await workspace.call('memory_get', { id: 'free' })) as Success
    const later = { id: 'free', expectedSha256: free.sha256 }
    expect(await store({ ...later, scopes: [] }, ['red'])).toMatchObject({ code: 'POLICY_DENIED' })
    expect(await store(later, ['red'])).toMatchObject({ ok: true, scopes: [] })
    for (const scopes of [['blue'], ['red', 'blue'], []]) {
      expect(await store({ id: 'not', scopes }, ['red'])).toMatchObject({ code: 'POLICY_DENIED', scopes: ['red'] })
    }
    expect(await store({ id: 'not', scopes: ['red'] }, [])).toMatchObject({ code: 'POLICY_DENIED' })
    const conflict = await store({ id: 'deep/blue', expectedSha256: 'a'.repeat(64) }, ['red'])
    expect(conflict).toMatchObject({ code: 'ALREADY_EXISTS' })
    expect(JSON.stringify(conflict)).not.toMatch(/[0-9a-f]{64}|blue"\]/)
    // A caller with one scope of a note keeps its other scopes, and cannot open it to all.
    const run = workspace.run({ scopes: ['green'] })
    const { sha256 } = (await run.call('memory_get', { id: 'mine' })) as Success
    expect(
      await run.callTool('memory_store', { id: 'mine', content: 'y', scopes: [], expectedSha256: sha256 }),
    ).toMatchObject({
      code: 'POLICY_DENIED',
    })
    expect(await run.callTool('memory_store', { id: 'mine', content: 'y', expectedSha256: sha256 })).toMatchObject({
      scopes: ['red', 'green'],
    })
  })

  it('hides the notes from every other tool, search, diff and shell, under any path', async () => {
    const backend = memory(tree)
    const workspace = await open({}, { backend })
    const before = await snapshot(backend)
    const paths = [
      'memory/red.md',
      'memory/open.md',
      'to-red',
      'to-memory/red.md',
      'memory',
      './memory/../memory/red.md',
    ]
    const ids: string[] = []
    const attempts: (readonly [string, Readonly<Record<string, unknown>>])[] = paths.flatMap(
      (path): [string, Record<string, unknown>][] => [
        ['read_file', { path }],
        ['file_info', { path }],
        ['list_directory', { path, maxDepth: 5, includeHidden: true, includeIgnored: true }],
        ['find_files', { pattern: '**', path, includeHidden: true }],
        ['search_text', { query: 'says', path, includeHidden: true }],
        ['edit_file', { path, oldText: 'It says CRIMSOM.', newText: 'x' }],
        ['replace_range', { path, startLine: 1, endLine: 1, newText: 'x', expectedSha256: 'a'.repeat(64) }],
        ['write_file', { path, content: 'x', expectedSha256: 'a'.repeat(64) }],
        ['append_file', { path, content: 'x' }],
        ['delete_file', { path: path.replace('to-red', 'memory/red.md') }],
        ['copy_file', { path, to: 'copied' }],
        ['move_file', { path: path.startsWith('to-') ? 'memory/red.md' : path, to: 'moved' }],
        ['apply_patch', { patch: `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-x\n+y\n` }],
        ['create_directory', { path: `${path}/more` }],
        ['diff_workspace', { paths: [path] }],
        ...['cat', 'head', 'tac', 'grep -r says', 'ls -la', 'rev', 'stat', 'sed p', 'sort', 'tail -c +1'].map(
          (command): [string, Record<string, unknown>] => ['run_command', { command: `${command} ${path}; true` }],
        ),
        [
          'run_command',
          { command: `cp -r ${path} out; cat out out/*; while read -r x; do echo "$x"; done < ${path}; true` },
        ],
      ],
    )
    attempts.push(
      ['search_text', { query: 'says', includeHidden: true, includeIgnored: true }],
      ['find_files', { pattern: '**/*', includeHidden: true, includeIgnored: true }],
      ['list_directory', { path: '.', maxDepth: 9, includeHidden: true }],
      ['run_command', { command: 'grep -rn says . ; find . ; cat $(find . -type f); cat */*.md; ls -R; rg -uuu says' }],
      ['run_command', { command: 'cd memory && cat red.md; tar c memory; mv memory elsewhere; cat elsewhere/*' }],
      ['run_command', { command: 'echo x > memory/new.md; rm -rf memory; ln -s memory m; cat m/red.md' }],
      ['create_directory', { path: 'memory/new' }],
      ['copy_file', { path: 'src/app.ts', to: 'memory/app.md' }],
    )
    // Tools without attempts above contribute those of their row in the table.
    const testedTools = new Set(attempts.map(([tool]) => tool))
    attempts.push(...paths.flatMap((path) => hiddenCallsAt(path)).filter(([tool]) => !testedTools.has(tool)))
    const untried = toolRows.filter(([tool]) => !attempts.some(([name]) => name === tool))
    expect(untried.filter(([, { hidden }]) => !('reason' in hidden))).toEqual([])
    for (const [tool, input] of attempts) {
      const result = await workspace.callTool(tool, input)
      ids.push(JSON.stringify(result))
      expect({ tool, input, shown: shownIn(ids.at(-1) ?? '') }).toEqual({ tool, input, shown: [] })
      if (!tool.includes('command'))
        expect({ tool, input, names: /blue|broken|no-note/.test(JSON.stringify(result)) }).toEqual({
          tool,
          input,
          names: false,
        })
    }
    const after = await snapshot(backend)
    for (const path of Object.keys(before).filter((name) => name.startsWith('memory')))
      expect(after[path]).toBe(before[path])
    expect(
      Object.keys(after)
        .filter((name) => name.startsWith('memory'))
        .sort(),
    ).toEqual(
      Object.keys(before)
        .filter((name) => name.startsWith('memory'))
        .sort(),
    )
    // No diff shows changes of notes from outside or by the memory tools.
    await workspace.call('memory_store', { id: 'fresh', content: 'It says COBALT.' })
    expect(JSON.stringify(await workspace.call('diff_workspace', {}))).not.toMatch(/fresh|COBALT/)
  })

  it('applies to notes on a mount and under another path', async () => {
    const workspace = await createWorkspace({
      mounts: { '': memory({ 'a.txt': 'a' }), 'notes/kept': memory({ 'red.md': note('[red]', 'CRIMSON') }) },
      policy: { preset: 'autonomous', memory: { path: 'notes/kept', acl: true } },
      run: { scopes: ['red'] },
    })
    expect(await workspace.call('memory_get', { id: 'red' })).toMatchObject({ ok: true, content: 'It says CRIMSON.\n' })
    expect(await workspace.call('read_file', { path: 'notes/kept/red.md' })).toMatchObject({ code: 'POLICY_DENIED' })
    expect(await workspace.call('find_files', { pattern: '**' })).toMatchObject({ files: ['a.txt'] })
    expect(await workspace.call('move_file', { path: 'notes', to: 'moved' })).toMatchObject({ ok: false })
    expect(await workspace.call('copy_file', { path: 'notes', to: 'copied' })).toMatchObject({ ok: false })
  })

  it('cannot be overridden by a rule, and is refused for a directory with another name', async () => {
    const workspace = await open({
      rules: [{ name: 'all', action: 'allow', paths: ['**'], overrides: ['secret'] }],
      tools: { read_file: 'allow' },
    })
    expect(await workspace.call('read_file', { path: 'memory/red.md' })).toMatchObject({ code: 'POLICY_DENIED' })
    await expect(open({ memory: { path: 'to-memory', acl: true } })).rejects.toThrow(TypeError)
    for (const path of ['', '.', '../x', '/x']) await expect(open({ memory: { path } })).rejects.toThrow('memory.path')
  })
})

describe('taint', () => {
  const labels = {
    sources: [{ label: 'confidential' as const, paths: ['src/**'] }],
    sinks: [{ name: 'site', ceiling: 'public' as const, paths: ['site/**'] }],
  }

  it('passes through a note into another run and another process, to a sink that refuses it and names the note', async () => {
    const backend = memory(tree)
    const first = await open({ labels }, { backend })
    await first.call('read_file', { path: 'src/app.ts' })
    expect(await first.call('memory_store', { id: 'learnt', content: 'It is 41.' })).toMatchObject({
      labels: ['confidential'],
    })
    const page = { path: 'site/a.html', content: '41' }
    const later = await open({ labels }, { backend, run: { id: 'later', scopes: ['red'] } })
    for (const run of [first.run({ id: 'other', scopes: ['red'] }), later]) {
      expect(await run.call('write_file', { ...page, path: `site/${run.id}.html` })).toMatchObject({ ok: true })
      expect(await run.call('memory_get', { id: 'learnt' })).toMatchObject({ label: 'confidential' })
      expect(await run.call('write_file', page)).toMatchObject({
        code: 'TAINT_DENIED',
        origin: { tool: 'memory_get', path: 'memory/learnt.md', callId: `${run.id}-2` },
      })
      expect((await run.report()).taint).toMatchObject([{ label: 'confidential', path: 'memory/learnt.md' }])
    }
    // A search looks at every note.
    const searching = first.run({ id: 'searching', scopes: ['red'] })
    expect(await searching.call('memory_search', { query: 'absent' })).toMatchObject({ label: 'confidential' })
  })
})

describe('a file that is not a note', () => {
  it('is neither found nor returned, under any name', async () => {
    const long = `WORD ${'x'.repeat(300)}`
    const workspace = await open(
      { memory: {} },
      {
        backend: memory({
          'memory/link.md': { link: 'data.txt' },
          'memory/data.txt': '# WORD\n',
          'memory/latin.md': new Uint8Array([...Buffer.from('WORD '), 0xe9]),
          'memory/long.md': `# Long\n\n${long}\n`,
          'memory/large.md': `# Large\n\n${'some line of it\n'.repeat(6000)}`,
        }),
      },
    )
    const search = (await workspace.call('memory_search', { query: 'word' })) as Success
    expect(search).toMatchObject({ matches: [{ id: 'long', line: 3 }] })
    expect(JSON.stringify(search)).toContain(`${long.slice(0, 100)}`)
    expect(JSON.stringify(search)).toContain('x…')
    for (const id of ['link', 'latin']) {
      expect(await workspace.call('memory_get', { id })).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    }
    const large = (await workspace.call('memory_get', { id: 'large' })) as Success
    expect(large).toMatchObject({ ok: true, truncated: true })
    // A note that was shown in part is not replaced without its version.
    expect(await workspace.call('memory_store', { id: 'large', content: 'other' })).toMatchObject({ ok: false })
  })

  it('is ignored in a workspace without notes', async () => {
    for (const tree of [{}, { memory: 'a file\n' }]) {
      const workspace = await open({ memory: {} }, { backend: memory(tree) })
      expect(await workspace.call('memory_search', { query: 'x' })).toMatchObject({ ok: true, matches: [] })
      expect(await workspace.call('memory_recall', {})).toMatchObject({ ok: true, notes: [] })
    }
  })
})
