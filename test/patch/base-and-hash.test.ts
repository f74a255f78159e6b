import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { noteBytesWithoutSecrets, redact } from '../../src/files/secrets/index.ts'
import { createTextCache, sectionOf } from '../../src/git/diff-section.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/index.ts'
import { applyToFile } from '../../src/patch/apply-file.ts'
import type { FileChange } from '../../src/patch/file-change.ts'
import { changedRegions, type PatchedFile } from '../../src/patch/line-diff.ts'
import { planPatch } from '../../src/patch/plan.ts'
import type { LogicalPath, Path } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { faulty } from '../../src/testing/index.ts'
import { byteText } from '../../src/util/native-bytes.ts'
import { times } from '../counts.ts'
import { commitAll, git, gitWith, loaded, newRepository, temporary } from '../git/repositories.ts'
import { type Answer, snapshot } from '../tools/setup.ts'
import { randomFrom } from './trees.ts'

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

describe('the section of a patched file', () => {
  /** Texts of few different lines, in which many changes have several shortest scripts, and of many. */
  const pools = [
    ['a', 'b', '}', ''],
    ['a', 'é', '漢字', '}', '', 'b\r'],
    [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => `const ${letter} = 1 // é ${letter.repeat(30)}`),
    ['name: A', `key: ${tokens}`, 'name: DB_PASSWORD', 'value: hunter2-Xy', 'value: é', 'a', 'b'],
  ]
  const side = (bytes: Uint8Array) => ({ mode: 0o100644, id: '', bytes: () => bytes })
  const random = randomFrom(7)
  const pick = (count: number) => Math.floor(random() * count)

  /** Hunks with shared, removed and added lines in any order. Some remove a line and add the same one. */
  function randomPatch(old: readonly string[], line: () => string): string {
    let patch = '--- a/a\n+++ b/a\n'
    let shift = 0
    for (let at = 0; at < old.length; ) {
      const start = at + pick(6)
      const parts: string[] = []
      for (let to = start; to < old.length && parts.length < 12 && random() < 0.85; ) {
        const kind = pick(5)
        if (kind < 3) parts.push(` ${old[to++]}`)
        else if (kind === 3) parts.push(`-${old[to++]}`)
        else parts.push(`+${random() < 0.1 ? old[to] : line()}`)
      }
      const oldCount = parts.filter((part) => part[0] !== '+').length
      const newCount = parts.filter((part) => part[0] !== '-').length
      at = start + oldCount + pick(3)
      if (parts.every((part) => part[0] === ' ')) continue
      const range = (from: number, count: number) => `${count === 0 ? from : from + 1},${count}`
      patch += `@@ -${range(start, oldCount)} +${range(start + shift, newCount)} @@\n`
      patch += parts.map((part) => (part.endsWith('\n') ? part : `${part}\n\\ No newline at end of file\n`)).join('')
      shift += newCount - oldCount
    }
    return patch
  }

  async function patchedBy(patch: string, before: Uint8Array): Promise<PatchedFile | undefined> {
    let patched: PatchedFile | undefined
    try {
      const [change] = planPatch(patch).changes
      await applyToFile(before, change as FileChange<LogicalPath>, { textFileBytes: 1e6 }, (file) => {
        patched = file
      })
    } catch {
      // Some hunks do not fit.
    }
    return patched
  }

  it('equals that of a comparison, whatever the hunks are', async () => {
    const counts = { applied: 0, certain: 0, redacted: 0 }
    for (let round = 0; round < times(800, 60_000); round++) {
      const pool = pools[round % pools.length] as string[]
      const line = () => `${pool[pick(pool.length)]}\n`
      const old = Array.from({ length: pick(24) }, line)
      if (old.length > 0 && random() < 0.2) old.push('end')
      const patch = randomPatch(old, line)
      const before = Buffer.from(old.join(''))
      const patched = await patchedBy(patch, before)
      if (patched === undefined) continue
      counts.applied += 1
      if (redact(byteText(before)).marks.length === 0) noteBytesWithoutSecrets(before)
      const regions = patched.regions()
      if (regions !== undefined) {
        counts.certain += 1
        expect([patch, regions]).toEqual([patch, changedRegions(byteText(before), byteText(patched.after))])
      }
      const change = { path: 'a' as Path, old: side(before), now: side(patched.after) }
      const compared = await sectionOf(change, () => false, createTextCache())
      if (compared.redacted) counts.redacted += 1
      expect([patch, await sectionOf(change, () => false, createTextCache(), patched)]).toEqual([patch, compared])
    }
    expect(counts.certain).toBeGreaterThan(counts.applied / 3)
    expect(counts.redacted).toBeGreaterThan(0)
  })
})
