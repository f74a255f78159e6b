import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { git as gitProvider } from '../../src/git/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/workspace/create-workspace.ts'
import { commitAll, git, loaded, newRepository } from './repositories.ts'

function repository(): string {
  const directory = newRepository()
  writeFileSync(join(directory, 'a.txt'), 'one\n')
  writeFileSync(join(directory, 'b.txt'), 'b\n')
  commitAll(directory)
  git(directory, 'checkout', '-q', '-b', 'topic')
  writeFileSync(join(directory, 'a.txt'), 'two\n')
  writeFileSync(join(directory, 'c.txt'), 'c\n')
  git(directory, 'rm', '-q', 'b.txt')
  commitAll(directory)
  git(directory, 'checkout', '-q', 'main')
  return directory
}

async function open(options: Partial<WorkspaceOptions> = {}, directory = repository()) {
  const backend = loaded(directory)
  const workspace = await createWorkspace({ backend, policy: 'autonomous', git: gitProvider(), ...options })
  const text = async (path: string) =>
    (await backend.stat(path as Path)) === undefined
      ? undefined
      : new TextDecoder().decode((await backend.read(path as Path)).bytes)
  const { git: own } = workspace
  if (own === undefined) throw new Error('no git')
  return { backend, workspace, git: own, text }
}

describe('git in a workspace', () => {
  it('replaces a file by a directory and back', async () => {
    const directory = repository()
    git(directory, 'checkout', '-q', '-b', 'deep')
    git(directory, 'rm', '-q', 'b.txt')
    mkdirSync(join(directory, 'b.txt'))
    writeFileSync(join(directory, 'b.txt/in.txt'), 'in\n')
    commitAll(directory)
    git(directory, 'checkout', '-q', 'main')
    const { git: own, text } = await open({}, directory)
    await own.checkout('deep')
    expect(await text('b.txt/in.txt')).toBe('in\n')
    await own.checkout('main')
    expect(await text('b.txt')).toBe('b\n')
  })

  it('exists only with the option git', async () => {
    const workspace = await createWorkspace({ backend: loaded(repository()), policy: 'autonomous' })
    expect(workspace.git).toBeUndefined()
    expect(await workspace.call('diff_workspace', {})).toMatchObject({ ok: true, filesChanged: 0 })
  })

  it('names the argument that is not a string', async () => {
    const { git: own } = await open()
    const names = { checkout: 'ref', branch: 'name', deleteBranch: 'name', moveTo: 'branch', clone: 'url' } as const
    for (const [method, name] of Object.entries(names)) {
      for (const value of [undefined, null, 5, ['main'], { [name]: 'main' }, { branch: 'main' }]) {
        const call = (own as unknown as Record<string, (value: unknown) => Promise<unknown>>)[method]
        await expect(call?.(value)).rejects.toThrow(
          new RegExp(`^Argument "${name}" of ${method}\\(\\) must be a string`),
        )
      }
    }
  })

  it('checks out as one call that is audited and can be undone', async () => {
    const { workspace, git: own, text } = await open()
    await own.checkout('topic')
    expect([await text('a.txt'), await text('b.txt'), await text('c.txt')]).toEqual(['two\n', undefined, 'c\n'])
    expect(await workspace.call('diff_workspace', {})).toMatchObject({ ok: true, filesChanged: 0 })
    const last = workspace.auditRecords().findLast(({ toolName }) => toolName === 'git_checkout')
    expect(last?.pathsWritten.toSorted()).toEqual(['a.txt', 'b.txt', 'c.txt'])
    const undone = await workspace.undo(last?.toolCallId ?? '')
    expect(undone).toMatchObject({ ok: true })
    expect([await text('a.txt'), await text('b.txt'), await text('c.txt')]).toEqual(['one\n', 'b\n', undefined])
  })

  it('changes nothing if policy denies a path, or an approval is refused', async () => {
    for (const options of [
      { policy: { preset: 'autonomous', readOnlyPaths: ['c.txt'] } },
      { policy: { preset: 'autonomous', deniedPaths: ['a.txt'] } },
      { policy: 'supervised', approve: async () => ({ deny: 'no' }) },
      { policy: 'autonomous', mode: 'plan' },
      { policy: 'readOnly' },
    ] as unknown as Partial<WorkspaceOptions>[]) {
      const { git: own, text } = await open(options)
      await expect(own.checkout('topic')).rejects.toMatchObject({
        code: expect.stringMatching(/DENIED|PLAN_MODE|READ_ONLY/),
      })
      expect([await text('a.txt'), await text('b.txt'), await text('c.txt')]).toEqual(['one\n', 'b\n', undefined])
      expect(await own.currentBranch()).toBe('main')
    }
  })

  it('names no file that a call may not read', async () => {
    const directory = newRepository()
    const hidden = ['private/tracked.txt', 'private/new.txt', 'private/gone.txt', 'private/NUL', '.env']
    mkdirSync(join(directory, 'private'))
    for (const path of ['a.txt', 'private/tracked.txt', 'private/gone.txt', '.env'])
      writeFileSync(join(directory, path), '1\n')
    commitAll(directory)
    git(directory, 'checkout', '-q', '-b', 'topic')
    for (const path of ['a.txt', 'private/tracked.txt', 'private/new.txt', '.env'])
      writeFileSync(join(directory, path), '2\n')
    commitAll(directory)
    git(directory, 'checkout', '-q', 'main')
    for (const path of ['private/tracked.txt', 'private/new.txt', 'b.txt', '.env'])
      writeFileSync(join(directory, path), '3\n')
    git(directory, 'rm', '-q', 'private/gone.txt')
    const { git: own } = await open({ policy: { preset: 'autonomous', deniedPaths: ['private/**'] } }, directory)
    const attempt = (action: Promise<unknown>) =>
      action.catch(({ message, details }: { message: string; details: object }) => ({ message, details }))
    const answers = [
      await attempt(own.status()),
      await attempt(own.log()),
      await attempt(own.branches()),
      await attempt(own.currentBranch()),
      await attempt(own.checkout('topic')),
      await attempt(own.restore(['private'])),
      await attempt(own.restore(['.'], { from: 'topic' })),
      await attempt(own.add(['.'])),
      await attempt(own.commit({ message: 'm', author: { name: 'a', email: 'b' } })),
      await attempt(own.status()),
    ]
    const text = JSON.stringify(answers)
    for (const path of hidden) expect(text).not.toContain(`"${path}"`)
    expect(text).not.toMatch(/tracked\.txt|new\.txt|gone\.txt|\.env/)
    expect(answers[0]).toEqual([{ path: 'b.txt', status: 'added', staged: false }])
    expect(answers[4]).toMatchObject({ message: expect.stringContaining('would be overwritten') })
  })

  it('writes a protected file only if a rule lifts the protection', async () => {
    const directory = repository()
    git(directory, 'checkout', '-q', 'topic')
    writeFileSync(join(directory, '.env'), 'PASSWORD=hunter2\n')
    commitAll(directory)
    git(directory, 'checkout', '-q', 'main')
    const strict = await open({}, directory)
    await expect(strict.git.checkout('topic')).rejects.toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    const rules = [{ name: 'as committed', action: 'allow', tools: ['git_checkout'], overrides: ['secret'] }] as const
    const lifted = await open({ policy: { preset: 'autonomous', rules } }, directory)
    await lifted.git.checkout('topic')
    expect(await lifted.text('.env')).toBe('PASSWORD=hunter2\n')
    expect(await lifted.workspace.call('read_file', { path: '.env' })).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
  })

  it('commits changes of tools, without secrets', async () => {
    const { backend, workspace, git: own } = await open()
    await workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'three' })
    await backend.commit([{ path: '.env' as Path, expect: 'any', to: { type: 'file', bytes: new Uint8Array([65]) } }], {
      durability: 'durable',
    })
    expect(await own.add('.')).toEqual({ staged: ['a.txt'], leftOut: 1, outside: [] })
    const commit = await own.commit({ message: 'edited' })
    expect(await workspace.call('diff_workspace', {})).toMatchObject({ ok: true, baseCommit: commit, filesChanged: 0 })
  })
})
