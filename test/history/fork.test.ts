import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { createWorkspace, mounts, type Success, type Workspace, type WorkspaceOptions } from '../../src/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { change, commit, file, textAt } from '../../src/testing/backend/case.ts'
import { snapshot } from '../tools/setup.ts'
import { writeFiles } from '../write-files.ts'

const files = { 'a.txt': 'a\n', 'd/x.txt': 'x\n', 'd/sub/y.txt': 'y\n', 'notes/n.md': '# n\n' }

const temporaries: string[] = []
afterAll(() => {
  for (const path of temporaries) rmSync(path, { recursive: true, force: true })
})
function onDisk(tree: Record<string, string> = files): { backend: Backend; root: string } {
  const base = mkdtempSync(join(tmpdir(), 'fork-'))
  temporaries.push(base)
  const root = join(base, 'root')
  mkdirSync(root)
  writeFiles(root, tree)
  return { backend: nodeBackend(root, { stateDir: join(base, 'state') }), root }
}

const places: Record<string, () => Backend> = {
  memory: () => memory(files),
  overlay: () => overlay(memory(files)),
  node: () => onDisk().backend,
  mounts: () => mounts({ '': memory(files), other: memory() }),
}

const open = (backend: Backend, options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ policy: 'autonomous', clock: () => 1, ...options, backend })

async function ok(
  workspace: Pick<Workspace, 'callTool'>,
  name: string,
  input: Record<string, unknown>,
): Promise<Success> {
  const result = await workspace.callTool(name, input)
  if (!result.ok) throw new Error(`${name}: ${result.code} ${result.message}`)
  return result
}
async function put(workspace: Workspace, path: string, content: string): Promise<Success> {
  const info = await workspace.call('read_file', { path })
  return ok(workspace, 'write_file', { path, content, expectedSha256: info.ok ? info.sha256 : null })
}
async function show(workspace: Workspace): Promise<Record<string, string>> {
  const { files: paths } = await ok(workspace, 'find_files', { pattern: '**' })
  const match: Record<string, string> = {}
  for (const path of paths as string[]) match[path] = String((await ok(workspace, 'read_file', { path })).content)
  return match
}

for (const [directory, create] of Object.entries(places)) {
  describe(`a fork on ${directory}`, () => {
    it('shows the current files of its workspace, and neither sees the changes of the other', async () => {
      const origin = await open(create())
      await put(origin, 'a.txt', 'before the fork\n')
      const fork = await origin.fork({ id: 'fork' })
      const then = await show(fork)
      expect(then).toEqual(await show(origin))
      await put(fork, 'a.txt', 'of the fork\n')
      await put(fork, 'new/f.txt', 'f\n')
      expect(await show(origin)).toEqual(then)
      const forked = await show(fork)
      await put(origin, 'a.txt', 'of the origin\n')
      await put(origin, 'd/x.txt', 'of the origin\n')
      await ok(origin, 'move_file', { path: 'd/sub', to: 'elsewhere' })
      await ok(origin, 'delete_file', { path: 'notes/n.md' })
      await put(origin, 'late.txt', 'late\n')
      expect(await show(fork)).toEqual(forked)
      await fork.close()
      expect(await show(origin)).toMatchObject({ 'a.txt': 'of the origin\n' })
      await origin.close()
    })

    it('merges its changes into its workspace atomically', async () => {
      const backend = create()
      const origin = await open(backend)
      const fork = await origin.fork({ id: 'fork' })
      const sibling = await origin.fork({ id: 'sibling' })
      const before = await show(sibling)
      await put(fork, 'a.txt', 'of the fork\n')
      await ok(fork, 'move_file', { path: 'd', to: 'e/f' })
      await ok(fork, 'delete_file', { path: 'notes/n.md' })
      const expected = await show(fork)
      const done = await fork.commit({ reason: 'reviewed' })
      expect(done).toMatchObject({ ok: true, artifactUri: expect.any(String) })
      expect(await show(origin)).toEqual(expected)
      expect(await show(fork)).toEqual(expected)
      expect(await show(sibling)).toEqual(before)
      expect(await fork.commit()).toMatchObject({ ok: true, paths: [] })
      expect(origin.auditRecords().filter(({ toolName }) => toolName === 'commit')).toHaveLength(4)
      expect(origin.verifyAudit()).toMatchObject({ ok: true })

      await put(sibling, 'a.txt', 'of the sibling\n')
      await put(sibling, 'ours.txt', 'o\n')
      const there = await snapshot(backend)
      expect(await sibling.commit()).toMatchObject({ ok: false, code: 'WRITE_CONFLICT', path: 'a.txt' })
      expect(await snapshot(backend)).toEqual(there)
      for (const workspace of [fork, sibling, origin]) await workspace.close()
    })

    it('has its own undo, and can be forked', async () => {
      const origin = await open(create())
      const fork = await origin.fork()
      const second = await fork.fork()
      const done = await put(second, 'a.txt', 'second\n')
      expect(await fork.undo(done.callId)).toMatchObject({ code: 'NOT_FOUND' })
      expect(await second.commit()).toMatchObject({ ok: true, paths: ['a.txt'] })
      expect(await show(fork)).toMatchObject({ 'a.txt': 'second\n' })
      expect(await show(origin)).toMatchObject({ 'a.txt': 'a\n' })
      expect(await second.undo(done.callId)).toMatchObject({ ok: true })
      expect(await show(second)).toMatchObject({ 'a.txt': 'a\n' })
      expect(await fork.commit()).toMatchObject({ ok: true })
      expect(await show(origin)).toMatchObject({ 'a.txt': 'second\n' })
      for (const workspace of [second, fork, origin]) await workspace.close()
    })
  })
}

describe('the commit of an overlay', () => {
  it('is the only operation that writes to the disk', async () => {
    const { backend, root } = onDisk()
    const workspace = await open(overlay(backend))
    await put(workspace, 'a.txt', 'new\n')
    await ok(workspace, 'delete_file', { path: 'd/x.txt' })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a\n')
    expect(existsSync(join(root, 'd/x.txt'))).toBe(true)
    expect(await workspace.commit()).toMatchObject({ ok: true, paths: ['a.txt', 'd/x.txt'] })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new\n')
    expect(existsSync(join(root, 'd/x.txt'))).toBe(false)
    await workspace.close()
  })

  it('is refused as a whole if the disk has changed', async () => {
    const { backend, root } = onDisk()
    const workspace = await open(overlay(backend))
    await put(workspace, 'a.txt', 'new\n')
    await put(workspace, 'b.txt', 'b\n')
    writeFileSync(join(root, 'a.txt'), 'theirs\n')
    expect(await workspace.commit()).toMatchObject({ code: 'WRITE_CONFLICT', path: 'a.txt' })
    expect(existsSync(join(root, 'b.txt'))).toBe(false)
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('theirs\n')
    await workspace.close()
  })

  it('is evaluated by policy, asks with a diff, waits for a plan, and is refused on a read-only workspace', async () => {
    const below = memory(files)
    const draft = overlay(below)
    await commit(draft, change('a.txt', file('new\n')), change('secret.pem', file('k')))
    const denied = await open(draft)
    expect(await denied.commit()).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    await commit(draft, change('secret.pem', null))

    let request: string | undefined
    const approve: WorkspaceOptions['approve'] = async ({ tool, diff }) => {
      request = `${tool}: ${diff}`
      return { deny: 'not yet' }
    }
    const asking = await open(draft, { policy: 'supervised', approve })
    expect(await asking.commit()).toMatchObject({ code: 'APPROVAL_DENIED' })
    expect(request).toContain('commit: ')
    expect(request).toContain('-a\n+new\n')

    const planning = await open(draft, { mode: 'plan' })
    expect(await planning.commit()).toMatchObject({ code: 'PLAN_MODE' })
    const sealed = await open(draft, { readOnly: true })
    expect(await sealed.commit()).toMatchObject({ ok: false })
    expect(await textAt(below, 'a.txt')).toBe('a\n')
    planning.approvePlan()
    expect(await planning.commit()).toMatchObject({ ok: true })
    expect(await textAt(below, 'a.txt')).toBe('new\n')
  })

  it('is refused without an overlay', async () => {
    const workspace = await open(memory(files))
    expect(await workspace.commit()).toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('a patch over several mounts', () => {
  const patch = (paths: readonly string[]) =>
    paths.map((path) => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+new\n`).join('')

  it('is refused as a whole over two persistent mounts', async () => {
    const [one, two] = [onDisk({}), onDisk({})]
    const workspace = await createWorkspace({
      policy: 'autonomous',
      mounts: { '': one.backend, two: two.backend, notes: memory() },
    })
    const result = await workspace.call('apply_patch', { patch: patch(['a.txt', 'two/b.txt', 'notes/c.md']) })
    expect(result).toMatchObject({ ok: false, code: 'INVALID_INPUT' })
    expect(await show(workspace)).toEqual({})
    await workspace.close()
  })

  it('is atomic over a persistent and a volatile mount, and is undone as a whole', async () => {
    const { backend, root } = onDisk({})
    const workspace = await createWorkspace({ policy: 'autonomous', mounts: { '': backend, notes: memory() } })
    const done = await ok(workspace, 'apply_patch', { patch: patch(['a.txt', 'notes/c.md']) })
    expect(await show(workspace)).toEqual({ 'a.txt': 'new\n', 'notes/c.md': 'new\n' })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new\n')
    expect(await workspace.undo(done.callId)).toMatchObject({ ok: true })
    expect(await show(workspace)).toEqual({})
    // The persistent part refuses, so the volatile part is restored.
    writeFileSync(join(root, 'a.txt'), 'theirs\n')
    expect(await workspace.call('apply_patch', { patch: patch(['a.txt', 'notes/c.md']) })).toMatchObject({ ok: false })
    expect(await show(workspace)).toEqual({ 'a.txt': 'theirs\n' })
    await workspace.close()
  })
})
