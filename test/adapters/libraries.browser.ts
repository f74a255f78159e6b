import { Buffer } from 'buffer'
import { unzipSync, zip } from 'fflate'
import * as isomorphicGit from 'isomorphic-git'
import { afterEach, describe, expect, it } from 'vitest'
import { createFs, type WorkspaceFs } from '../../src/adapters/fs/index.ts'
import { opfs } from '../../src/backends/opfs/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { freshName, removeWorkspace } from '../backends/opfs/subjects.ts'

// Of Node, isomorphic-git takes only this from a page.
Object.assign(globalThis, { Buffer })

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function openFs(layout: 'packed' | 'files'): Promise<WorkspaceFs> {
  const name = freshName()
  const workspace = await createWorkspace({
    backend: await opfs({ name, layout }),
    policy: 'autonomous',
    limits: { callsPerMinute: 1_000_000 },
  })
  closers.push(async () => {
    await workspace.close()
    await removeWorkspace(name)
  })
  return createFs(workspace) as WorkspaceFs
}

describe.each(['packed', 'files'] as const)('libraries on wardspace/fs over opfs({ layout: "%s" })', (layout) => {
  it('isomorphic-git commits, branches, checks out and logs', async () => {
    const fs = await openFs(layout)
    const repository = { fs, dir: '/', gitdir: '/history' }
    const author = { name: 'A', email: 'a@example.com', timestamp: 1_700_000_000, timezoneOffset: 0 }
    await fs.promises.mkdir('/src')
    await fs.promises.writeFile('/src/a.ts', 'export const a = 1\n')
    await isomorphicGit.init({ ...repository, defaultBranch: 'main' })
    await isomorphicGit.add({ ...repository, filepath: 'src/a.ts' })
    const first = await isomorphicGit.commit({ ...repository, message: 'first', author })
    await isomorphicGit.branch({ ...repository, ref: 'other', checkout: true })
    await fs.promises.writeFile('/src/a.ts', 'export const a = 22\n')
    await isomorphicGit.add({ ...repository, filepath: 'src/a.ts' })
    await isomorphicGit.commit({ ...repository, message: 'second', author })
    await isomorphicGit.checkout({ ...repository, ref: 'main' })
    expect(await fs.promises.readFile('/src/a.ts', 'utf8')).toBe('export const a = 1\n')
    const entries = await isomorphicGit.log({ ...repository, ref: 'other' })
    expect(entries.map(({ commit }) => commit.message)).toEqual(['second\n', 'first\n'])
    expect(entries[1]?.oid).toBe(first)
  })

  it('fflate packs a tree and unpacks it', async () => {
    const fs = await openFs(layout)
    const { promises } = fs
    const big = crypto.getRandomValues(new Uint8Array(60_000))
    await promises.mkdir('/in/deep', { recursive: true })
    await promises.writeFile('/in/a.txt', 'one\n')
    await promises.writeFile('/in/deep/b.bin', big)
    const tree: Record<string, Uint8Array> = {}
    for (const entry of (await promises.readdir('/in', { recursive: true })) as string[]) {
      if ((await promises.stat(`/in/${entry}`)).isFile())
        tree[entry] = (await promises.readFile(`/in/${entry}`)) as Uint8Array
    }
    const packed = await new Promise<Uint8Array>((resolve, reject) => {
      zip(tree, (error, data) => (error === null ? resolve(data) : reject(error)))
    })
    await promises.writeFile('/tree.zip', packed)
    const unpacked = unzipSync((await promises.readFile('/tree.zip')) as Uint8Array)
    for (const [name, bytes] of Object.entries(unpacked)) {
      await promises.mkdir(`/out/${name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : ''}`, {
        recursive: true,
      })
      await promises.writeFile(`/out/${name}`, bytes)
    }
    expect(await promises.readFile('/out/a.txt', 'utf8')).toBe('one\n')
    expect(new Uint8Array((await promises.readFile('/out/deep/b.bin')) as Uint8Array)).toEqual(big)
  })
})
