import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace } from '../../src/index.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'damaged-'))
})
afterAll(() => rm(directory, { recursive: true }))

const branch = { '.git/HEAD': 'ref: refs/heads/main\n' }
const damaged: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'no text in HEAD': { '.git/HEAD': 'garbage\0\n' },
  'a wrong branch in HEAD': { '.git/HEAD': 'ref: ../../x\n' },
  'a wrong id in the branch': { ...branch, '.git/refs/heads/main': 'garbage\n' },
  'wrong packed refs': { ...branch, '.git/packed-refs': 'garbage\n' },
  'a directory in place of HEAD': { '.git/HEAD/x': '' },
  'a file in place of the repository': { '.git': 'garbage\n' },
}

async function open(files: Readonly<Record<string, string>>) {
  const root = await mkdtemp(join(directory, 'tree-'))
  for (const [path, content] of Object.entries({ ...files, 'a.txt': 'one\n' })) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
  return { root, workspace: await createWorkspace({ backend: nodeBackend(root), policy: 'autonomous' }) }
}

describe.each(Object.entries(damaged))('a repository with %s', (_name, files) => {
  it('stops no changes', async () => {
    const { workspace } = await open(files)
    const content = 'two\n'
    expect(await workspace.call('write_file', { path: 'b.txt', content, expectedSha256: null })).toMatchObject({
      ok: true,
    })
    expect(await workspace.call('append_file', { path: 'a.txt', content })).toMatchObject({ ok: true })
    await workspace.files.batch((tx) => tx.append('a.txt', content))
    expect(await workspace.files.readText('a.txt')).toBe('one\ntwo\ntwo\n')
    await workspace.close()
  })
})

describe('a repository with a damaged HEAD', () => {
  it('stops differences, with the reason, until it is deleted', async () => {
    const { root, workspace } = await open({ '.git/HEAD': 'garbage\0\n' })
    await workspace.files.write('a.txt', 'two\n', {})
    expect(await workspace.call('diff_workspace', {})).toMatchObject({
      ...{ code: 'BACKEND_ERROR', message: expect.stringContaining('Cannot read the repository of the workspace: ') },
    })
    await rm(join(root, '.git'), { recursive: true })
    expect(await workspace.call('diff_workspace', {})).toMatchObject({ diff: expect.stringContaining('-one\n+two\n') })
    await workspace.close()
  })
})
