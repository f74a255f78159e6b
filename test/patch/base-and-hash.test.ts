import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { faulty } from '../../src/testing/index.ts'
import { commitAll, git, gitWith, loaded, newRepository, temporary } from '../git/repositories.ts'
import { type Answer, snapshot } from '../tools/setup.ts'

const places: Readonly<Record<string, (directory: string) => Backend>> = {
  memory: loaded,
  node: (directory) => nodeBackend(directory, { stateDir: temporary() }),
}

const patch = '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n'
const tokens = 'ghp_0123456789abcdefghijABCDEFGHIJ456789'

function repository(): { directory: string; first: string; second: string } {
  const directory = newRepository()
  writeFileSync(join(directory, 'a.txt'), 'one\ntwo\n')
  const first = commitAll(directory, 'first')
  writeFileSync(join(directory, 'b.txt'), 'b\n')
  return { directory, first, second: commitAll(directory, 'second') }
}

const open = (backend: Backend, options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ policy: 'autonomous', ...options, backend })

describe.each(Object.entries(places))('apply_patch over a repository in %s', (_, location) => {
  it('applies to the expected commit, by its git id', async () => {
    const { directory, second } = repository()
    const backend = location(directory)
    const workspace = await open(backend)
    expect(git(directory, 'rev-parse', 'HEAD').trim()).toBe(second)
    const answer = await workspace.call('apply_patch', { patch, expectedBaseCommit: second })
    expect(answer).toMatchObject({ ok: true, applied: true })
    await workspace.close()
  })

  it('changes nothing on another commit, and names the current one', async () => {
    const { directory, first, second } = repository()
    const backend = location(directory)
    const workspace = await open(backend)
    const before = await snapshot(backend)
    for (const dryRun of [false, true]) {
      expect(await workspace.call('apply_patch', { patch, expectedBaseCommit: first, dryRun })).toMatchObject({
        ok: false,
        code: 'WRITE_CONFLICT',
        currentBaseCommit: second,
      })
    }
    expect(await workspace.call('apply_patch', { patch, expectedBaseCommit: 'HEAD' })).toMatchObject({
      ok: false,
      code: 'INVALID_INPUT',
      field: 'expectedBaseCommit',
    })
    expect(await snapshot(backend)).toEqual(before)
    await workspace.close()
  })

  it('returns the hash of the next diff_workspace, which git apply accepts', async () => {
    const { directory } = repository()
    const workspace = await open(location(directory))
    const rehearsed = await workspace.call('apply_patch', { patch, dryRun: true })
    expect(rehearsed).toMatchObject({ ok: true, newWorkspaceDiffSha256: null })
    const answer: Answer = await workspace.call('apply_patch', { patch })
    const diff: Answer = await workspace.call('diff_workspace', {})
    if (!answer.ok || !diff.ok) throw new Error('refused')
    expect(answer.newWorkspaceDiffSha256).toBe(diff.diffSha256)
    expect(answer.newWorkspaceDiffSha256).toBe(createHash('sha256').update(diff.diff).digest('hex'))
    // The hash is that of a diff that git can apply to the commit.
    const clone = temporary()
    git(clone, 'clone', '-q', directory, '.')
    gitWith(clone, diff.diff, 'apply', '-')
    expect(gitWith(clone, '', 'show', ':a.txt')).toBe('one\ntwo\n')
    expect(git(clone, 'diff', '--numstat')).toBe('1\t1\ta.txt\n')
    // After the undo, the workspace equals the commit, so the hash is that of an empty diff.
    await workspace.undo(answer.callId)
    expect(await workspace.call('diff_workspace', {})).toMatchObject({
      diffSha256: createHash('sha256').update('').digest('hex'),
    })
    await workspace.close()
  })
})

describe('newWorkspaceDiffSha256', () => {
  const files = { 'a.txt': 'one\ntwo\n', '.env': 'A=1\n' }

  it('is the hash of the diff since opening if there is no repository', async () => {
    const workspace = await open(memory(files))
    const answer = await workspace.call('apply_patch', { patch })
    const diff = await workspace.call('diff_workspace', {})
    expect(diff).toMatchObject({ ok: true, baseCommit: null })
    expect(answer).toMatchObject({ newWorkspaceDiffSha256: diff.ok && diff.diffSha256 })
    await workspace.close()
  })

  it('is null if diff_workspace is not registered, denied, or needs an approval', async () => {
    const closed: Partial<WorkspaceOptions>[] = [
      { tools: ['apply_patch', 'read_file'] },
      { policy: { preset: 'autonomous', tools: { diff_workspace: 'deny' } } },
      {
        policy: { preset: 'autonomous', tools: { diff_workspace: 'ask' } },
        approve: () => 'allow',
      },
      {
        policy: {
          preset: 'autonomous',
          rules: [{ name: 'no diffs', action: 'deny', permissions: ['file:diff'], paths: ['**'] }],
        },
      },
    ]
    for (const options of closed) {
      const workspace = await open(memory(files), options)
      const answer = await workspace.call('apply_patch', { patch })
      expect(answer).toMatchObject({ ok: true, applied: true, newWorkspaceDiffSha256: null })
      await workspace.close()
    }
  })

  it('is null if the diff is longer than 12 MiB, whose hash diff_workspace returns', async () => {
    const limits = { writeBytes: 10_000_000, bytesWrittenPerRun: 20_000_000 }
    const workspace = await open(memory({ 'a.txt': 'one\ntwo\n' }), { limits })
    const line = `${'x'.repeat(99)}\n`
    for (const path of ['b.txt', 'c.txt'])
      expect(await workspace.call('write_file', { path, content: line.repeat(65_000) })).toMatchObject({ ok: true })
    expect(await workspace.call('apply_patch', { patch })).toMatchObject({ ok: true, newWorkspaceDiffSha256: null })
    const diff = await workspace.call('diff_workspace', { statOnly: true })
    expect(diff).toMatchObject({ ok: true, diffSha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })

  it('does not depend on hidden files', async () => {
    const hashes = new Set<unknown>()
    for (const secret of ['A=1\n', 'A=2\n', `A=${tokens}\n`]) {
      const backend = memory(files)
      const workspace = await open(backend)
      await backend.commit(
        [{ path: '.env' as never, expect: 'any', to: { type: 'file', bytes: new TextEncoder().encode(secret) } }],
        { durability: 'relaxed' },
      )
      const answer = await workspace.call('apply_patch', { patch })
      hashes.add(answer.ok && answer.newWorkspaceDiffSha256)
      await workspace.close()
    }
    expect([...hashes]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)])
  })

  it('does not fail the call if the diff fails', async () => {
    const backend = loaded(repository().directory)
    const gone = { on: ['stat', 'read'], path: /^\.git/, error: new Error('the storage is gone') } as const
    const failing = faulty(backend, { on: 'commit', when: 'after', run: () => failing.inject(gone) })
    const workspace = await open(failing)
    expect(await workspace.call('apply_patch', { patch })).toMatchObject({ ok: true, newWorkspaceDiffSha256: null })
    expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n2\n' })
    await workspace.close()
  })
})
