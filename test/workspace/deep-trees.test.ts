import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { git } from '../../src/git/index.ts'
import { type LogicalPath, parsePath } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { createWorkspace, type Workspace } from '../../src/workspace/create-workspace.ts'
import { times } from '../counts.ts'

/** A path may have 4,095 bytes: 2,048 names of one letter. */
const DEEPEST = 2048

interface Deep {
  readonly workspace: Workspace
  /** The directory at the bottom, and its file. */
  readonly bottom: string
  readonly file: string
}

/** What is done with a tree, in this order, each on what the others leave. The result is what the row expects. */
const ways: Readonly<Record<string, (deep: Deep) => Promise<void>>> = {
  create: async ({ workspace, bottom, file }) => {
    await ok(workspace.call('create_directory', { path: bottom }))
    await ok(workspace.call('write_file', { path: file, content: 'one\n' }))
  },
  'diff, with the file added': (deep) => expectChanged(deep, [deep.file]),
  read: async ({ workspace, file }) => {
    expect(await ok(workspace.call('read_file', { path: file }))).toMatchObject({ content: 'one\n' })
    expect(await ok(workspace.call('file_info', { path: file }))).toMatchObject({ type: 'file' })
  },
  list: async ({ workspace, bottom, file }) => {
    expect((await ok(workspace.call('list_directory', { path: bottom }))).entries).toMatchObject([{ path: file }])
    expect((await ok(workspace.call('list_directory', { maxDepth: 1000 }))).entries).toHaveLength(32)
  },
  find: async ({ workspace, file }) => {
    const pattern = file.replaceAll(/d(?=\/)/g, '*')
    for (const glob of ['**', '**/f', ...(pattern.length > 4000 ? [] : [pattern])]) {
      expect(await ok(workspace.call('find_files', { pattern: glob }))).toMatchObject({ files: [file] })
    }
  },
  search: async ({ workspace, file }) => {
    expect((await ok(workspace.call('search_text', { query: 'one' }))).matches).toMatchObject([{ path: file }])
  },
  edit: async ({ workspace, file }) => {
    const edited = await ok(workspace.call('edit_file', { path: file, oldText: 'one', newText: 'two' }))
    await ok(workspace.undo(edited.callId))
    const patch = `--- a/${file}\n+++ b/${file}\n@@ -1 +1 @@\n-one\n+two\n`
    await ok(workspace.call('apply_patch', { patch }))
  },
  'move and undo': async ({ workspace, file }) => {
    const moved = await ok(workspace.call('move_file', { path: 'd', to: 'x' }))
    expect(await workspace.files.exists(file)).toBe(false)
    await ok(workspace.undo(moved.callId))
    expect(await workspace.files.readText(file)).toBe('two\n')
  },
  'copy and roll back': async ({ workspace }) => {
    const { id } = workspace.checkpoint()
    await ok(workspace.call('copy_file', { path: 'd', to: 'x' }))
    await ok(workspace.rollback(id))
    expect(await workspace.files.exists('x')).toBe(false)
  },
  'fork and commit': async (deep) => {
    const { workspace, file } = deep
    const fork = await workspace.fork()
    await ok(fork.call('write_file', { path: file.replace('d/', 'e/'), content: 'fork\n' }))
    expect((await ok(fork.call('find_files', { pattern: 'e/**' }))).files).toEqual([file.replace('d/', 'e/')])
    await expectChanged({ ...deep, workspace: fork }, [file.replace('d/', 'e/')])
    await ok(fork.commit())
    await expectChanged(deep, [file, file.replace('d/', 'e/')])
  },
  'git add, commit and status': async (deep) => {
    const repository = repositoryOf(deep)
    await repository.init()
    expect((await repository.add('.')).staged).toContain(deep.file)
    await repository.commit({ message: 'deep' })
    expect(await repository.status()).toEqual([])
    await expectChanged(deep, [])
  },
  'git checkout and restore': async (deep) => {
    const { workspace, file } = deep
    const repository = repositoryOf(deep)
    await repository.branch('before')
    await workspace.files.delete('d', { recursive: true })
    expect(await repository.status()).toMatchObject([{ path: file, status: 'deleted' }])
    await expectChanged(deep, [file])
    await repository.add('.')
    await repository.commit({ message: 'shallow' })
    await repository.checkout('before')
    expect(await workspace.files.readText(file)).toBe('two\n')
    await workspace.files.delete('d', { recursive: true })
    await repository.restore(['d'])
    expect(await workspace.files.readText(file)).toBe('two\n')
  },
  'walk, rename, copy and delete by the program': async ({ workspace: { files }, file }) => {
    const walked = []
    for await (const { path } of files.walk('d')) walked.push(path)
    expect(walked.at(-1)).toBe(file)
    await files.rename('d', 'x')
    await files.copy('x', 'd')
    await files.delete('x', { recursive: true })
    expect(await files.readText(file)).toBe('two\n')
  },
  report: async ({ workspace, file }) => {
    expect((await workspace.report()).written.map(({ path }) => path)).toContain(file)
  },
}

/** Those that change no directory again: the changes of a whole tree list 2,047 paths of up to 4,095 bytes. */
const light = ['create', 'diff, with the file added', 'read', 'list', 'find', 'search', 'git add, commit and status']

interface Row {
  readonly create: (directory: string) => Promise<Backend> | Backend
  readonly levels: number
  readonly all: boolean
}

const rows: Readonly<Record<string, Row>> = {
  'memory, read and compared': { create: () => memory(), levels: DEEPEST, all: false },
  'overlay, read and compared': { create: () => overlay(memory()), levels: times(400, DEEPEST), all: false },
  'memory, in all ways': { create: () => memory(), levels: times(60, DEEPEST), all: true },
  'overlay, in all ways': { create: () => overlay(memory()), levels: times(60, DEEPEST), all: true },
  // A disk has a limit of its own for the whole path, and its commits cost system calls for each level.
  'node, in all ways': { create: (directory) => nodeBackend(directory), levels: times(35, 2000), all: true },
}

describe('a tree as deep as a path', () => {
  it.each(Object.entries(rows))(
    'works on %s',
    { timeout: times(300_000, 3_600_000) },
    async (_, { create, levels, all }) => {
      const directory = mkdtempSync(join(tmpdir(), 'wardspace-deep-'))
      try {
        const workspace = await createWorkspace({ backend: await create(directory), policy: 'autonomous', git: git() })
        const bottom = deepPath(levels - 1)
        const deep = { workspace, bottom, file: `${bottom}/f` }
        for (const [way, use] of Object.entries(ways)) {
          if (!all && !light.includes(way)) continue
          await use(deep).catch((error: unknown) => {
            throw new Error(`${way}: ${(error as Error).message.slice(-500)}`, { cause: error })
          })
        }
        await workspace.close()
      } finally {
        rmSync(directory, { recursive: true, force: true })
      }
    },
  )
})

describe('a path that is too deep', () => {
  it('is refused by the guard, or by the limit of a disk', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'wardspace-deep-'))
    try {
      const path = deepPath(DEEPEST)
      expect(() => parsePath(`${path}/f`)).toThrow('longer than 4095 bytes')
      const workspace = await createWorkspace({ backend: await nodeBackend(directory), policy: 'autonomous' })
      for (const refused of [
        await workspace.call('create_directory', { path }),
        await workspace.call('write_file', { path, content: '' }),
      ]) {
        expect(refused).toMatchObject({ ok: false, code: 'PATH_REJECTED', message: /too long for this storage/ })
      }
      await ok(workspace.call('write_file', { path: 'a.txt', content: 'a\n' }))
      await workspace.close()
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})

describe('memory()', () => {
  it('takes the deepest path as a key', async () => {
    const backend = memory({ [deepPath(DEEPEST)]: 'a\n' })
    expect(await backend.stat(deepPath(DEEPEST))).toMatchObject({ type: 'file' })
  })
})

function deepPath(names: number) {
  return parsePath(Array(names).fill('d').join('/')) as LogicalPath as Parameters<Backend['stat']>[0]
}

function repositoryOf({ workspace }: Deep) {
  if (workspace.git === undefined) throw new Error('The workspace has no repository')
  return workspace.git
}

async function expectChanged({ workspace }: Deep, paths: readonly string[]): Promise<void> {
  const { diff, filesChanged } = await ok(workspace.call('diff_workspace', {}))
  expect(filesChanged).toBe(paths.length)
  for (const path of paths) expect(diff).toContain(path)
}

/** The result of a call that must succeed. */
async function ok<T extends { readonly ok: boolean }>(call: Promise<T>): Promise<T & { readonly ok: true }> {
  const result = await call
  if (!result.ok) throw new Error(`${JSON.stringify(result).slice(-300)}`)
  return result as T & { readonly ok: true }
}
