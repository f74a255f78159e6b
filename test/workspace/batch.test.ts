import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { type Backend, createWorkspace } from '../../src/index.ts'
import type { FileOperations, WorkspaceFiles } from '../../src/workspace/files.ts'
import { everyNth } from '../counts.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'batch-'))
})
afterAll(() => rm(directory, { recursive: true }))

const backends: Readonly<Record<string, () => Backend | Promise<Backend>>> = {
  memory: () => memory(),
  overlay: () => overlay(memory()),
  node: async () => nodeBackend(await mkdtemp(join(directory, 'tree-'))),
}

async function open(backend: Backend): Promise<WorkspaceFiles> {
  const { files } = await createWorkspace({ backend, policy: 'autonomous' })
  await files.write('p', 'p0')
  await files.write('q', 'q0')
  await files.write('d/f', 'f0')
  if (backend.capabilities.links) await files.link('l', 'p')
  return files
}

/** The methods of a batch, each with what shows its effect. */
const operations: {
  readonly [K in keyof FileOperations]: (tx: FileOperations) => Promise<unknown>
} = {
  readBytes: async (tx) => expect(await tx.readBytes('p')).toEqual(new TextEncoder().encode('p0')),
  readText: async (tx) => expect(await tx.readText('p')).toBe('p0'),
  stat: async (tx) => expect(await tx.stat('p')).toMatchObject({ type: 'file', size: 2 }),
  exists: async (tx) => expect([await tx.exists('p'), await tx.exists('none')]).toEqual([true, false]),
  entries: async (tx) => expect(await tx.entries('d')).toEqual([{ name: 'f', type: 'file' }]),
  async walk(tx) {
    const paths: string[] = []
    for await (const { path } of tx.walk('d')) paths.push(path)
    expect(paths).toEqual(['d/f'])
  },
  readLink: async (tx) => expect(await tx.readLink('l')).toBe('p'),
  realPath: async (tx) => expect(await tx.realPath('l')).toBe('p'),
  write: async (tx) => [await tx.write('n', '1'), expect(await tx.readText('n')).toBe('1')],
  append: async (tx) => [await tx.append('p', '1'), expect(await tx.readText('p')).toBe('p01')],
  setMode: async (tx) => [await tx.setMode('p', 0o700), expect((await tx.stat('p'))?.mode).toBe(0o700)],
  makeDirectory: async (tx) => [await tx.makeDirectory('e'), expect((await tx.stat('e'))?.type).toBe('directory')],
  link: async (tx) => [await tx.link('m', 'q'), expect(await tx.readLink('m')).toBe('q')],
  rename: async (tx) => [await tx.rename('p', 'r'), expect(await tx.readText('r')).toBe('p0')],
  copy: async (tx) => [await tx.copy('p', 'r'), expect(await tx.readText('r')).toBe('p0')],
  delete: async (tx) => [await tx.delete('p'), expect(await tx.exists('p')).toBe(false)],
}

describe('a batch', () => {
  it('has no method that does nothing', async () => {
    const files = await open(memory())
    const others: string[] = []
    await files.batch(async (tx) => {
      for (const name of Object.keys(tx)) if (!Object.hasOwn(operations, name)) others.push(name)
      for (const name of others) {
        const method = (tx as unknown as Record<string, (...args: unknown[]) => unknown>)[name]
        expect(() => method?.('p'), name).toThrow(`A batch has no ${name}(): use `)
      }
    })
    expect(others.sort()).toEqual(['batch', 'list', 'read', 'readable', 'remove', 'watch', 'writable'])
    expect(Object.keys(files).sort()).toEqual([...Object.keys(operations), ...others].sort())
  })

  it('commits nothing after a refused method', async () => {
    const files = await open(memory())
    const act = async (tx: FileOperations) => {
      await tx.write('p', 'new')
      await (tx as WorkspaceFiles).remove('q', '0'.repeat(64))
    }
    await expect(files.batch(act)).rejects.toThrow('A batch has no remove(): use delete()')
    expect(await files.readText('p')).toBe('p0')
  })

  it.each(Object.entries(operations))('has %s', async (_name, act) => {
    const files = await open(memory())
    await files.batch(act)
  })
})

/** Ways of a batch to see `p`. */
const reads: Readonly<Record<string, (tx: FileOperations) => Promise<unknown>>> = {
  readText: (tx) => tx.readText('p'),
  readBytes: (tx) => tx.readBytes('p'),
  'a range': (tx) => tx.readBytes('p', { start: 1 }),
  'readText of a link': (tx) => tx.readText('l'),
  'the size': async (tx) => (await tx.stat('p'))?.size,
  'a copy': (tx) => tx.copy('p', 'copied'),
  'the text twice': async (tx) => [await tx.exists('p'), await tx.readText('p')],
}
const changes: Readonly<Record<string, (tx: FileOperations) => Promise<unknown>>> = {
  'writes the same path': (tx) => tx.write('p', 'mine'),
  'appends to the same path': (tx) => tx.append('p', 'mine'),
  'deletes the same path': (tx) => tx.delete('p'),
  'writes another path': (tx) => tx.write('q', 'mine'),
}
const others: Readonly<Record<string, (files: WorkspaceFiles) => Promise<unknown>>> = {
  writes: (files) => files.write('p', 'other'),
  deletes: (files) => files.delete('p'),
  renames: (files) => files.rename('p', 'gone'),
}

describe.each(Object.entries(backends))('a batch over %s', (_backend, create) => {
  const rows = Object.keys(reads).flatMap((read) =>
    Object.keys(changes).flatMap((change) => Object.keys(others).map((other) => [read, change, other] as const)),
  )

  it.each(everyNth(rows, 4))('that has seen %s and %s conflicts if another call %s it', async (read, change, other) => {
    const files = await open(await create())
    const batch = files.batch(async (tx) => {
      await reads[read]?.(tx)
      await others[other]?.(files)
      await changes[change]?.(tx)
    })
    await expect(batch).rejects.toBeInstanceOf(Error)
    expect(await files.readText('q')).toBe('q0')
    expect(await files.exists('copied')).toBe(false)
    if (other === 'writes') {
      await expect(batch).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
      expect(await files.readText('p')).toBe('other')
    } else expect(await files.exists('p')).toBe(false)
  })

  it('names the changed path, its version and what to do', async () => {
    const files = await open(await create())
    let other: { sha256: string } | undefined
    const batch = files.batch(async (tx) => {
      await tx.readText('p')
      await tx.write('q', 'mine')
      other = await files.write('p', 'other')
    })
    await expect(batch).rejects.toMatchObject({
      ...{ code: 'WRITE_CONFLICT', message: 'Cannot commit: "p" has changed since the batch read it' },
      details: { path: 'p', hint: 'Run the whole batch again.' },
    })
    await expect(batch).rejects.toMatchObject({ details: { currentSha256: other?.sha256 } })
  })

  it.each(['exists', 'stat', 'makes a file that'] as const)(
    'that asked whether a path %s conflicts if another call creates it',
    async (way) => {
      const files = await open(await create())
      const batch = files.batch(async (tx) => {
        if (way === 'exists') expect(await tx.exists('new')).toBe(false)
        else if (way === 'stat') expect(await tx.stat('new')).toBeUndefined()
        else await tx.write('new', 'mine', { expectedSha256: null })
        await files.write('new', 'other')
        if (way !== 'makes a file that') await tx.write('new', 'mine')
      })
      await expect(batch).rejects.toBeInstanceOf(Error)
      expect(await files.readText('new')).toBe('other')
    },
  )

  it('conflicts with another batch that has read the same file', async () => {
    const files = await open(await create())
    const increase = (name: string) =>
      files.batch(async (tx) => {
        const text = await tx.readText('p')
        await new Promise((resolve) => setTimeout(resolve, 20))
        await tx.write('p', text + name)
      })
    const results = await Promise.allSettled([increase('A'), increase('B')])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await files.readText('p')).toMatch(/^p0[AB]$/)
  })

  it('commits in spite of changes of what it has not seen', async () => {
    const files = await open(await create())
    await files.batch(async (tx) => {
      expect(await tx.exists('p')).toBe(true)
      await tx.entries('d')
      expect(await tx.exists('d')).toBe(true)
      await files.write('p', 'other')
      await files.write('d/new', 'other')
      await tx.write('q', 'mine')
      expect(await tx.readText('q')).toBe('mine')
    })
    expect([await files.readText('p'), await files.readText('q')]).toEqual(['other', 'mine'])
  })

  it('that only reads does not conflict', async () => {
    const files = await open(await create())
    const read = files.batch(async (tx) => {
      const text = await tx.readText('p')
      await files.write('p', 'other')
      return text
    })
    expect(await read).toBe('p0')
  })

  it('reads and writes its own files again', async () => {
    const files = await open(await create())
    await files.batch(async (tx) => {
      for (const name of ['p', 'new/x']) {
        await tx.append(name, '1')
        await tx.append(name, String((await tx.readText(name)).length))
        await tx.copy(name, `${name}-copy`)
        await tx.rename(`${name}-copy`, `${name}-moved`)
        expect(await tx.stat(`${name}-moved`)).toMatchObject({ size: (await tx.readText(name)).length })
      }
    })
    expect([await files.readText('p-moved'), await files.readText('new/x-moved')]).toEqual(['p013', '11'])
  })
})
