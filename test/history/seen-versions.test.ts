import { describe, expect, it } from 'vitest'
import { toModelText } from '../../src/adapters/json-schema/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { snakeCase } from '../../src/dialects/snake-case/index.ts'
import { completeVersions } from '../../src/history/complete-versions.ts'
import { mayExpectVersions, noteVersions } from '../../src/history/seen-versions.ts'
import {
  type ApprovalRequest,
  createWorkspace,
  type ParkedCall,
  type Path,
  type Success,
  type WorkspaceOptions,
} from '../../src/index.ts'
import { commitAll, loaded, newRepository } from '../git/repositories.ts'
import { snapshot } from '../tools/setup.ts'
import { writeFiles } from '../write-files.ts'

const text = 'one\ntwo\n'

/** Two contents whose sha256 begin with the same 8 digits. */
const twins = ['line 107535\n', 'line 130993\n'] as const

async function open(options: Partial<WorkspaceOptions> = {}) {
  const backend = memory({ 'a.txt': text, 'b.txt': twins[0], 'c.txt': twins[1] })
  const policy = { preset: 'autonomous', memory: {} } as const
  const workspace = await createWorkspace({ backend, policy, ids: () => 'r', ...options })
  return { backend, workspace }
}

type Caller = { callTool(name: string, input: unknown): Promise<unknown> }

/** Returns the version that the text for a model shows. */
async function shownBy(run: Caller, tool: string, input: object): Promise<string> {
  const result = (await run.callTool(tool, input)) as Success
  const [, version = ''] = /^sha256: (?:\{"[^"]+":")?([0-9a-f]+)/m.exec(toModelText(tool, result)) ?? []
  expect(version).toMatch(/^[0-9a-f]{8}$/)
  return version
}

const write = (backend: ReturnType<typeof memory>, path: string, content: string) =>
  backend.commit(
    [{ path: path as Path, expect: 'any', to: { type: 'file', bytes: new TextEncoder().encode(content) } }],
    { durability: 'durable' },
  )

/** A change by each tool that takes a version, of a file with the lines `one` and `two`. */
const changes = {
  edit_file: { path: 'a.txt', oldText: 'one', newText: '1' },
  replace_range: { path: 'a.txt', startLine: 1, endLine: 1, newText: '1\n' },
  write_file: { path: 'a.txt', content: 'x' },
  append_file: { path: 'a.txt', content: 'three\n' },
  copy_file: { path: 'a.txt', to: 'n.txt' },
  move_file: { path: 'a.txt', to: 'n.txt' },
  delete_file: { path: 'a.txt' },
} as const

describe('the first digits of a version', () => {
  it.each(Object.entries(changes))('%s: expect the whole version that the run was shown', async (tool, input) => {
    const { workspace } = await open()
    const expectedSha256 = await shownBy(workspace, 'read_file', { path: 'a.txt' })
    expect(await workspace.callTool(tool, { ...input, expectedSha256 })).toMatchObject({ ok: true })
  })

  it.each(Object.entries(changes))('%s: are refused if the file has changed since', async (tool, input) => {
    const { backend, workspace } = await open()
    const expectedSha256 = await shownBy(workspace, 'read_file', { path: 'a.txt' })
    await write(backend, 'a.txt', 'one\ntwo\nfrom outside\n')
    const before = await snapshot(backend)
    expect(await workspace.callTool(tool, { ...input, expectedSha256 })).toMatchObject({
      ok: false,
      code: 'WRITE_CONFLICT',
      message: expect.stringContaining('has changed since'),
    })
    expect(await snapshot(backend)).toEqual(before)
  })

  it.each(Object.entries(changes))('%s: are refused in a run that was shown no such version', async (tool, input) => {
    const { backend, workspace } = await open()
    const expectedSha256 = await shownBy(workspace, 'read_file', { path: 'a.txt' })
    const before = await snapshot(backend)
    expect(await workspace.run({ id: 's' }).callTool(tool, { ...input, expectedSha256 })).toMatchObject({
      ok: false,
      code: 'WRITE_CONFLICT',
      message: expect.stringContaining(`in no single version that begins with ${expectedSha256}`),
      hint: expect.stringContaining('Read the file again'),
    })
    expect(await snapshot(backend)).toEqual(before)
  })

  it('come from every result and refusal that shows a version', async () => {
    const { workspace } = await open()
    let expectedSha256 = await shownBy(workspace, 'file_info', { path: 'a.txt' })
    const next = async (tool: string, input: object) => {
      expectedSha256 = await shownBy(workspace, tool, { ...input, expectedSha256 })
    }
    await next('edit_file', changes.edit_file)
    await next('append_file', changes.append_file)
    await next('move_file', changes.move_file)
    await next('write_file', { path: 'n.txt', content: text })
    const patch = '--- a/n.txt\n+++ b/n.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n'
    const patched = await workspace.callTool('apply_patch', { patch, expectedSha256s: { 'n.txt': expectedSha256 } })
    expect(patched).toMatchObject({ ok: true })
    const refused = await workspace.callTool('write_file', { path: 'n.txt', content: 'x', expectedSha256 })
    const currentSha256 = String(Object(refused).currentSha256).slice(0, 8)
    await workspace.run({ id: 's' }).call('write_file', { path: 's.txt', content: 's' })
    const counted = await workspace.call('search_text', { query: 's', path: 's.txt', hashes: true, filesOnly: true })
    const [file] = (counted.ok && counted.files) || []
    const input = { path: 's.txt', content: 't', expectedSha256: file?.sha256?.slice(0, 12) }
    expect(await workspace.callTool('write_file', input)).toMatchObject({ ok: true })
    const note = await shownBy(workspace, 'memory_store', { id: 'n', content: 'one\n' })
    const stored = await workspace.callTool('memory_store', { id: 'n', content: 'two\n', expectedSha256: note })
    expect(stored).toMatchObject({ ok: true })
    expect(await workspace.callTool('delete_file', { path: 'n.txt', expectedSha256: currentSha256 })).toMatchObject({
      ok: true,
    })
  })

  it('are refused if two versions that the run was shown begin with them, until there are more digits', async () => {
    const { workspace } = await open()
    const first = await shownBy(workspace, 'read_file', { path: 'b.txt' })
    const edit = { path: 'b.txt', oldText: 'line', newText: 'row', expectedSha256: first }
    const explained = await workspace.explain('edit_file', edit)
    expect(explained).toMatchObject({ ok: true, verdict: { decision: 'allow' } })
    expect(await shownBy(workspace, 'read_file', { path: 'c.txt' })).toBe(first)
    const refused = await workspace.callTool('edit_file', edit)
    expect(refused).toMatchObject({
      ok: false,
      code: 'WRITE_CONFLICT',
      hint: expect.stringContaining('give all digits'),
    })
    const expecting = (expectedSha256: string) => workspace.callTool('edit_file', { ...edit, expectedSha256 })
    const other = await workspace.call('read_file', { path: 'c.txt' })
    expect(await expecting(other.ok ? other.sha256 : '')).toMatchObject({ ok: false, code: 'WRITE_CONFLICT' })
    expect(await expecting(String(Object(refused).currentSha256).slice(0, 16))).toMatchObject({ ok: true })
  })

  it('are at least 8, in lowercase hex', async () => {
    const { workspace } = await open()
    const whole = await shownBy(workspace, 'read_file', { path: 'a.txt' })
    for (const expectedSha256 of [whole.slice(0, 7), whole.toUpperCase(), `${whole} `, '']) {
      expect(await workspace.callTool('edit_file', { ...changes.edit_file, expectedSha256 })).toMatchObject({
        ok: false,
        code: 'INVALID_INPUT',
        field: 'expectedSha256',
      })
    }
  })

  it('are whole in what a person is asked, and in a parked call that another process resumes', async () => {
    const asked: ApprovalRequest[] = []
    const parked = new Map<string, string>()
    const store = {
      put: (call: ParkedCall) => void parked.set(call.id, JSON.stringify(call)),
      take: (id: string) => (parked.has(id) ? (JSON.parse(parked.get(id) ?? '') as ParkedCall) : undefined),
    }
    const options = { policy: 'supervised', parked: store } as const
    const { backend, workspace } = await open(options)
    const expectedSha256 = await shownBy(workspace, 'read_file', { path: 'a.txt' })
    const call = { ...changes.edit_file, expectedSha256 }
    const refused = await workspace.callTool('edit_file', call)
    expect(refused).toMatchObject({ ok: false, code: 'APPROVAL_REQUIRED' })
    const other = await createWorkspace({ backend, ids: () => 'q', ...options })
    expect(await other.resume(String(Object(refused).approvalId), 'allow')).toMatchObject({ ok: true })
    const asking = await open({
      policy: 'supervised',
      approve: (request) => {
        asked.push(request)
        return 'allow'
      },
    })
    await shownBy(asking.workspace, 'read_file', { path: 'a.txt' })
    expect(await asking.workspace.callTool('edit_file', call)).toMatchObject({ ok: true })
    expect(asked).toMatchObject([{ input: { expectedSha256: expect.stringMatching(/^[0-9a-f]{64}$/) } }])
  })

  it('are accepted by the tools of a dialect', async () => {
    const backend = memory({ 'a.txt': text })
    const workspace = await createWorkspace({ backend, policy: 'autonomous', dialect: snakeCase() })
    const read = await workspace.own.call('read_file', { path: 'a.txt' })
    const expected_sha256 = read.ok ? read.sha256.slice(0, 8) : ''
    const edit = { path: 'a.txt', old_text: 'one', new_text: '1', expected_sha256 }
    expect(await workspace.callTool('edit_file', edit)).toMatchObject({ isError: false })
    const again = { path: 'a.txt', old_text: '1', new_text: 'one', expected_sha256 }
    expect(await workspace.callTool('edit_file', again)).toMatchObject({ isError: true })
  })

  it('of a commit are those of the base that diff_workspace names', async () => {
    const directory = newRepository()
    writeFiles(directory, { 'a.txt': text })
    const commit = commitAll(directory, 'first')
    const workspace = await createWorkspace({ backend: loaded(directory), policy: 'autonomous' })
    const patch = '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n'
    const expectedBaseCommit = commit.slice(0, 8)
    expect(await workspace.call('apply_patch', { patch, expectedBaseCommit })).toMatchObject({
      ok: false,
      code: 'WRITE_CONFLICT',
      message: expect.stringContaining(`was shown no commit that begins with ${expectedBaseCommit}`),
    })
    const diff = toModelText('diff_workspace', await workspace.call('diff_workspace', {}))
    expect(diff).toMatch(new RegExp(`^0 files changed since ${expectedBaseCommit}: `))
    expect(await workspace.call('apply_patch', { patch, expectedBaseCommit })).toMatchObject({ ok: true })
  })
})

describe('completeVersions', () => {
  const versionOf = (number: number) => number.toString(16).padStart(8, '0').padEnd(64, 'f')

  it('knows the latest versions only', () => {
    const seen = new Set<string>()
    for (let number = 0; number <= 10_000; number++) noteVersions(seen, { sha256: versionOf(number) })
    const complete = (version: string) => Object(completeVersions(seen, { expectedSha256: version })).expectedSha256
    expect(complete('00000000')).toBe('00000000')
    expect(complete('00000001')).toBe(versionOf(1))
    expect(complete('00002710')).toBe(versionOf(10_000))
  })

  it('goes through the versions once, however many an input has, and not for whole ones', () => {
    let passes = 0
    class Counted extends Set<string> {
      override [Symbol.iterator]() {
        passes += 1
        return super[Symbol.iterator]()
      }
    }
    const seen = new Counted([versionOf(1), versionOf(2)])
    const fields = (version: (number: number) => string) => ({
      expectedSha256s: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, version(1 + (i % 3))])),
    })
    expect(completeVersions(seen, fields(versionOf))).toEqual(fields(versionOf))
    expect(passes).toBe(0)
    const completed = completeVersions(
      seen,
      fields((number) => versionOf(number).slice(0, 9)),
    )
    expect(completed).toEqual(fields((number) => (number === 3 ? versionOf(3).slice(0, 9) : versionOf(number))))
    expect(passes).toBe(1)
  })

  it('leaves an input that is no plain object as it is, and one that cannot be read', () => {
    const throwing = {
      get expectedSha256(): string {
        throw new Error('never shown')
      },
    }
    const unreadable = new Proxy({}, { ownKeys: () => throwing.expectedSha256 as never })
    for (const input of [null, undefined, 'x', 7, [], new Map(), throwing, unreadable]) {
      expect(completeVersions(new Set(), input)).toBe(input)
    }
    expect([throwing, unreadable, null, { path: 'a' }].map(mayExpectVersions)).toEqual([true, false, false, false])
  })

  it('keeps null, other fields and the names of paths', () => {
    const seen = new Set<string>()
    noteVersions(seen, { filesTouched: [{ newSha256: versionOf(1), oldSha256: null }], names: ['x', null] })
    const expectedSha256s = JSON.parse('{"__proto__":"00000001","b":null}')
    const completed = completeVersions(seen, { patch: 'p', expectedSha256s }) as { expectedSha256s: object }
    expect(Object.keys(completed)).toEqual(['patch', 'expectedSha256s'])
    expect(Object.entries(completed.expectedSha256s)).toEqual([
      ['__proto__', versionOf(1)],
      ['b', null],
    ])
  })
})
