import * as disk from 'node:fs'
import * as node from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { everyNth, times } from '../counts.ts'
import { until } from '../until.ts'

const files = { 'f.txt': 'f', 'g.txt': 'g', 'd/a.txt': 'a', 'd/e/b.txt': 'b', 'empty/x': '' }
const links = { l: 'f.txt', 'd/up': '../f.txt' }

async function ownTree() {
  const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous' })
  for (const [path, target] of Object.entries(links)) await workspace.files.link(path, target)
  await workspace.files.delete('empty/x')
  return { workspace, fs: createFs(workspace) }
}

async function withNodeTree<T>(use: (root: string) => Promise<T>): Promise<T> {
  const root = disk.mkdtempSync(join(tmpdir(), 'wardspace-fs-as-node-'))
  try {
    for (const path of ['d/e', 'empty']) disk.mkdirSync(join(root, path), { recursive: true })
    for (const [path, text] of Object.entries(files)) disk.writeFileSync(join(root, path), text)
    for (const [path, target] of Object.entries(links)) disk.symlinkSync(target, join(root, path))
    disk.rmSync(join(root, 'empty/x'))
    return await use(root)
  } finally {
    disk.rmSync(root, { recursive: true })
  }
}

const codeOf = (act: Promise<unknown>): Promise<string> =>
  act.then(
    () => 'ok',
    (error: { code?: string; name: string }) => error.code ?? error.name,
  )

/** Every entry below a directory: the type, and the content of files. */
async function treeOf(fs: Pick<typeof node, 'readdir' | 'lstat' | 'readFile'>, root: string): Promise<string[]> {
  const found: string[] = []
  for (const name of (await fs.readdir(root, { recursive: true })).sort()) {
    // A link to itself is no entry here that can be read.
    const stat = await fs.lstat(join(root, name)).catch(() => undefined)
    if (stat === undefined) found.push(`${name} link `)
    if (stat === undefined) continue
    const content = stat.isFile() ? String(await fs.readFile(join(root, name), 'utf8')) : ''
    found.push(`${name} ${stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : 'file'} ${content}`)
  }
  return found
}

describe('cp', () => {
  const options = [
    {},
    { recursive: true },
    { recursive: true, dereference: true },
    { recursive: true, force: false },
    { recursive: true, force: false, errorOnExist: true },
    { dereference: true },
  ]
  const pairs = ['f.txt', 'd', 'd/e', 'l', 'missing'].flatMap((from) =>
    ['f.txt', 'g.txt', 'new', 'empty', 'd', 'd/e/new'].map((to) => [from, to] as const),
  )

  it('copies, and refuses with the codes of Node, for every kind of source and target', async () => {
    const differences: string[] = []
    let tried = 0
    for (const [position, [from, to]] of pairs.entries()) {
      for (const given of everyNth(options, 6, position)) {
        await withNodeTree(async (root) => {
          const { fs, workspace } = await ownTree()
          const expected = await codeOf(node.cp(join(root, from), join(root, to), given))
          const actual = await codeOf(fs.promises.cp(`/${from}`, `/${to}`, given))
          const label = `${from} to ${to} ${JSON.stringify(given)}`
          tried += 1
          if (actual !== expected) differences.push(`${label}: ${actual}, in Node ${expected}`)
          const [own, real] = [await treeOf(fs.promises as never, '/'), await treeOf(node, root)]
          if (actual === 'ok' && own.join() !== real.join())
            differences.push(`${label}: ${own.join()}, in Node ${real.join()}`)
          await workspace.close()
        })
      }
    }
    expect(differences).toEqual([])
    expect(tried).toBe((pairs.length * options.length) / times(6, 1))
  })
})

describe('content that is passed in parts', () => {
  async function* parts() {
    yield 'one '
    await pause(1)
    yield Buffer.from('two')
  }

  it('is written as one change, and not at all if it fails or is cancelled', async () => {
    const { fs, workspace } = await ownTree()
    const { promises } = fs
    await promises.writeFile('/a', parts())
    await promises.appendFile('/a', [' three', ' four'])
    await promises.writeFile('/b', Readable.from(['x', 'y']))
    expect([await promises.readFile('/a', 'utf8'), await promises.readFile('/b', 'utf8')]).toEqual([
      'one two three four',
      'xy',
    ])
    const handle = await promises.open('/c', 'w')
    await handle.writeFile(parts())
    await handle.close()
    expect(await promises.readFile('/c', 'utf8')).toBe('one two')
    async function* failing() {
      yield 'lost'
      throw new Error('broken')
    }
    await expect(promises.writeFile('/f.txt', failing())).rejects.toThrow('broken')
    const stop = new AbortController()
    const cancelled = promises.writeFile('/f.txt', parts(), { signal: stop.signal })
    stop.abort()
    await expect(cancelled).rejects.toMatchObject({ name: 'AbortError', code: 'ABORT_ERR' })
    expect(await promises.readFile('/f.txt', 'utf8')).toBe('f')
    await workspace.close()
  })
})

describe('an open file', () => {
  it('reads and writes by streams, reports its end, and has no owner but the first', async () => {
    const { fs, workspace } = await ownTree()
    const handle = await fs.promises.open('/f.txt', 'r+')
    const events: string[] = []
    handle.on('close', () => events.push('close')).once('close', () => events.push('once'))
    await handle.utimes(1, 1)
    await handle.chown(0, 0)
    await expect(handle.chown(5, 0)).rejects.toMatchObject({ code: 'EPERM' })
    const writer = handle.createWriteStream()
    writer.end('written')
    await until('the handle closes', () => events.length === 2)
    expect(events).toEqual(['close', 'once'])
    const again = await fs.promises.open('/f.txt')
    let text = ''
    for await (const chunk of again.createReadStream({ start: 2, encoding: 'utf8' })) text += String(chunk)
    expect([text, again.fd]).toEqual(['itten', -1])
    await workspace.close()
  })

  it('has streams that close by their own function, as often as a program likes', async () => {
    const { fs, workspace } = await ownTree()
    const writer = fs.createWriteStream('/n.txt')
    writer.write('a')
    const closed = new Promise<void>((resolve) => writer.close(resolve))
    writer.close()
    await closed
    await new Promise<void>((resolve) => writer.close(resolve))
    expect(await fs.promises.readFile('/n.txt', 'utf8')).toBe('a')
    const reader = fs.createReadStream('/n.txt')
    await new Promise<void>((resolve) => reader.close(resolve))
    expect(() => fs.createReadStream('/n.txt', { fs: disk } as never)).toThrow('options.fs')
    for (const options of [5, { start: '1' }, { start: -1 }, { end: 1.5 }, { start: 2, end: 1 }, { signal: {} }]) {
      const thrown = (act: () => unknown) => {
        try {
          act()
        } catch (error) {
          return (error as { code?: string }).code
        }
        return undefined
      }
      const expected = thrown(() => disk.createReadStream(import.meta.filename, options as never).destroy())
      expect(
        thrown(() => fs.createReadStream('/n.txt', options as never)),
        JSON.stringify(options),
      ).toBe(expected)
      expect(expected).toMatch(/^ERR_/)
    }
    await workspace.close()
  })
})

describe('a directory that is opened', () => {
  it('is read at once or by promises, and closed once', async () => {
    const { fs, workspace } = await ownTree()
    const directory = await fs.promises.opendir('/d')
    expect(directory.readSync()?.name).toBe('a.txt')
    expect((await directory.read())?.name).toBe('e')
    directory.closeSync()
    expect(() => directory.readSync()).toThrow(expect.objectContaining({ code: 'ERR_DIR_CLOSED' }))
    await expect(directory.close()).rejects.toMatchObject({ code: 'ERR_DIR_CLOSED' })
    await directory[Symbol.asyncDispose]()
    await workspace.close()
  })
})

describe('watch', () => {
  it('reports paths that come or go as rename and others as change, with names in the encoding', async () => {
    const { fs, workspace } = await ownTree()
    const stop = new AbortController()
    const seen: string[] = []
    const watched = (async () => {
      const events = fs.promises.watch('/', { recursive: true, encoding: 'hex', signal: stop.signal })
      for await (const { eventType, filename } of events) {
        seen.push(`${eventType} ${Buffer.from(String(filename), 'hex').toString()}`)
      }
    })().catch((error: Error) => error.name)
    const steps: readonly (readonly [act: () => Promise<unknown>, events: readonly string[]])[] = [
      [() => fs.promises.writeFile('/f.txt', 'F'), ['change f.txt']],
      [() => fs.promises.writeFile('/new.txt', 'n'), ['rename new.txt']],
      [() => fs.promises.writeFile('/new.txt', 'N'), ['change new.txt']],
      [() => fs.promises.unlink('/new.txt'), ['rename new.txt']],
      [() => fs.promises.rename('/d/e/b.txt', '/d/c.txt'), ['rename d/c.txt', 'rename d/e/b.txt']],
    ]
    let tries = 0
    await until('the watch has begun', async () => {
      await fs.promises.writeFile('/f.txt', String(tries++))
      await pause(50)
      return seen.length > 0
    })
    seen.length = 0
    for (const [act, events] of steps) {
      await act()
      await until('the events arrive', () => seen.length >= events.length)
      expect(seen.splice(0).sort()).toEqual(events)
    }
    stop.abort()
    expect(await watched).toBe('AbortError')
    for (const options of [{ recursive: 1 }, { encoding: 'utf9' }, { persistent: 'x' }, { signal: 1 }, 'utf9']) {
      expect(() => fs.watch('/', options as never), JSON.stringify(options)).toThrow()
    }
    await workspace.close()
  })
})
