import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync, zipSync } from 'fflate'
import type { BrowserContext, Page } from 'playwright'
import { beforeEach, describe, expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import { serveGit } from '../git/http-server.ts'
import { git } from '../git/repositories.ts'
import { pageCalls } from '../runtimes/page-calls.ts'
import { serveCorsProxy } from './cors-proxy.ts'
import { usePlayground } from './shared.ts'
import type { StorageApi } from './storage/page.ts'

/** Tests the storage of projects in a real browser, with real tabs. */
const playground = usePlayground(join(import.meta.dirname, 'storage'))
let person: BrowserContext

beforeEach(async () => {
  person = await playground.person()
})

async function tab(): Promise<Page> {
  const page = await playground.open(person)
  await page.waitForFunction(() => 'api' in globalThis)
  return page
}

const ask = pageCalls<StorageApi>()

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Contents that are easily changed by import and export. */
const delicate: Readonly<Record<string, Uint8Array>> = {
  '.gitignore': bytesOf('dist/\n'),
  'bom.txt': bytesOf('\ufeffone\n'),
  'crlf.txt': bytesOf('one\r\ntwo\r\n'),
  'empty.txt': new Uint8Array(),
  'no newline at end': bytesOf('a'),
  'src/näme 漢字 🙂.bin': Uint8Array.from({ length: 100_000 }, (_, i) => (i * 7 + (i >> 8)) & 255),
}

function delicateZip(): string {
  return Buffer.from(
    zipSync({ ...delicate, 'run.sh': [bytesOf('#!/bin/sh\n'), { os: 3, attrs: 0o100755 << 16 }] }),
  ).toString('base64')
}

function contents(zip: string): Record<string, Uint8Array> {
  return unzipSync(new Uint8Array(Buffer.from(zip, 'base64')))
}

describe('a project', () => {
  it.each(['memory', 'opfs'] as const)('survives import and export of a zip byte for byte in %s', async (storage) => {
    const page = await tab()
    const { info, warnings } = await ask(page, 'importZip', delicateZip(), storage)
    expect(warnings).toEqual([])
    await ask(page, 'open', info.id)
    const again = contents(await ask(page, 'exportZip', info.id))
    const expected = { ...delicate, 'run.sh': bytesOf('#!/bin/sh\n') }
    expect(Object.keys(again).sort()).toEqual(Object.keys(expected).sort())
    for (const [path, bytes] of Object.entries(expected)) {
      expect(Buffer.compare(again[path] as Uint8Array, bytes), path).toBe(0)
    }
    const modes = Object.fromEntries((await ask(page, 'files', info.id)).map(({ path, mode }) => [path, mode]))
    expect(modes).toMatchObject({ 'run.sh': 0o755, 'crlf.txt': 0o644 })
  })

  it.runIf(isLong)('survives a reload with its stored data, which is not among its files', async () => {
    const page = await tab()
    const { info } = await ask(page, 'importZip', delicateZip(), 'opfs')
    await ask(page, 'open', info.id)
    expect(await ask(page, 'write', info.id, 'a.txt', 'written\n')).toMatchObject({ ok: true })
    await ask(page, 'save', info.id, 'conversation', [{ role: 'user', text: 'hello' }])
    await ask(page, 'rename', info.id, 'Renamed')
    await page.reload()
    await page.waitForFunction(() => 'api' in globalThis)
    expect(await ask(page, 'list')).toMatchObject([{ id: info.id, name: 'Renamed', storage: 'opfs' }])
    expect(await ask(page, 'open', info.id)).toMatchObject({ writable: true })
    expect(await ask(page, 'load', info.id, 'conversation')).toEqual([{ role: 'user', text: 'hello' }])
    expect(await ask(page, 'load', info.id, 'nothing')).toBeUndefined()
    const paths = (await ask(page, 'files', info.id)).map(({ path }) => path)
    expect(paths.sort()).toEqual([...Object.keys(delicate), 'a.txt', 'run.sh'].sort())
    await ask(page, 'close', info.id)
    await ask(page, 'remove', info.id)
    expect(await ask(page, 'list')).toEqual([])
    expect(await leftovers(page, info.id)).toEqual([])
  })

  it.runIf(isLong)('leaves no data after a cancelled import', async () => {
    const page = await tab()
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`f${i}.txt`, bytesOf(`${i}`)]))
    const source = Buffer.from(zipSync(many)).toString('base64')
    const cancelled = page.evaluate(async (base64) => {
      const { api } = globalThis as unknown as { api: StorageApi }
      const file = new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))])
      await api.make({ kind: 'zip', file }, 'opfs', 3)
    }, source)
    await expect(cancelled).rejects.toThrow('cancelled')
    expect(await ask(page, 'phases')).toHaveLength(3)
    expect(await ask(page, 'list')).toEqual([])
    expect(await leftovers(page, '')).toEqual([])
  })

  it.runIf(isLong)(
    'is removed by the next tab if a closed tab left it unfinished, but not while a tab creates it',
    async () => {
      const [closing, working] = [await tab(), await tab()]
      for (const page of [closing, working]) {
        await page.evaluate(async () => {
          const { api } = globalThis as unknown as { api: StorageApi }
          async function* files() {
            yield* Array.from({ length: 200 }, (_, i) => ({ path: `f${i}`, bytes: new Uint8Array(10_000) }))
            await new Promise((resolve) => Object.assign(globalThis, { goOn: resolve }))
            yield { path: 'last', bytes: new Uint8Array() }
          }
          Object.assign(globalThis, { making: api.make({ kind: 'files', files: files() }, 'opfs') })
        })
        await page.waitForFunction(() => 'goOn' in globalThis)
      }
      await closing.close()
      expect(await workspaces(working)).toHaveLength(2)
      const next = await tab()
      await expect.poll(() => workspaces(next)).toHaveLength(1)
      await working.evaluate(() => (globalThis as unknown as { goOn(): void }).goOn())
      const { info } = await working.evaluate(
        () => (globalThis as unknown as { making: ReturnType<StorageApi['make']> }).making,
      )
      await ask(next, 'open', info.id)
      expect(await ask(next, 'files', info.id)).toHaveLength(201)

      // Without its entry, it is lost, and not unfinished.
      await ask(next, 'close', info.id)
      expect(await ask(next, 'lost')).toEqual([])
      await next.evaluate(async () => {
        const home = await (await navigator.storage.getDirectory()).getDirectoryHandle('wardspace-playground')
        await home.removeEntry('projects', { recursive: true })
      })
      await ask(next, 'removeUnfinished')
      expect(await workspaces(next)).toEqual([info.id])
      expect(await ask(next, 'list')).toEqual([])
      expect(await ask(next, 'lost')).toEqual([{ id: info.id, name: 'Imported' }])
    },
  )

  it.runIf(isLong)('works in a picked folder in place', async () => {
    const page = await tab()
    const { info } = await ask(page, 'importPicked', 'picked')
    await ask(page, 'open', info.id)
    expect((await ask(page, 'files', info.id)).map(({ path }) => path)).toEqual(['here.txt'])
    await ask(page, 'write', info.id, 'new.txt', 'written in place\n')
    expect(await ask(page, 'inFolder', 'picked', 'new.txt')).toBe('written in place\n')
    await page.reload()
    await page.waitForFunction(() => 'api' in globalThis)
    await ask(page, 'open', info.id)
    expect((await ask(page, 'files', info.id)).map(({ path }) => path)).toEqual(['here.txt', 'new.txt'])
    await ask(page, 'close', info.id)
    await ask(page, 'remove', info.id)
    expect(await ask(page, 'inFolder', 'picked', 'new.txt'), 'its files are not ours to remove').toBe(
      'written in place\n',
    )
  })
})

describe('two tabs', () => {
  it('share a project: one writes; the other reads, may take over, and learns when it is free', async () => {
    const [first, second] = [await tab(), await tab()]
    const { info } = await ask(first, 'importZip', delicateZip(), 'opfs')
    expect(await ask(first, 'open', info.id)).toMatchObject({ writable: true })
    expect(await ask(second, 'open', info.id)).toMatchObject({ writable: false })
    expect(await ask(second, 'write', info.id, 'b.txt', 'no')).toMatchObject({ ok: false, code: 'READ_ONLY' })
    await expect(ask(second, 'save', info.id, 'conversation', [])).rejects.toThrow('another tab')

    await ask(first, 'write', info.id, 'a.txt', 'by the first\n')
    await expect.poll(() => ask(second, 'events')).toContainEqual({ kind: 'changed', paths: ['a.txt'] })
    expect((await ask(second, 'files', info.id)).map(({ path }) => path)).toContain('a.txt')

    await ask(second, 'close', info.id)
    expect(await ask(second, 'open', info.id, true)).toMatchObject({ writable: true })
    expect(await ask(first, 'writable', info.id)).toBe(false)
    expect(await ask(first, 'events')).toContainEqual({ kind: 'taken' })
    expect(await ask(first, 'write', info.id, 'c.txt', 'no')).toMatchObject({ ok: false, code: 'READ_ONLY' })
    expect(await ask(second, 'write', info.id, 'b.txt', 'by the second\n')).toMatchObject({ ok: true })

    await second.close()
    await expect.poll(() => ask(first, 'events')).toContainEqual({ kind: 'free' })
    await ask(first, 'close', info.id)
    expect(await ask(first, 'open', info.id)).toMatchObject({ writable: true })
    const paths = (await ask(first, 'files', info.id)).map(({ path }) => path)
    expect(paths).toContain('a.txt')
    expect(paths).toContain('b.txt')
  })

  it.runIf(isLong)(
    'are not assumed after a reload, when the previous page still holds the lock but does not answer',
    async () => {
      const page = await tab()
      const { info } = await ask(page, 'make', { kind: 'empty' }, 'opfs')
      const leaving = await tab()
      await leaving.evaluate((id) => {
        const held = new Promise<void>((letGo) => Object.assign(globalThis, { letGo }))
        return new Promise<void>((taken) => {
          void navigator.locks.request(`wardspace-playground ${id}`, () => {
            taken()
            return held
          })
        })
      }, info.id)
      const opening = ask(page, 'open', info.id)
      await page.waitForFunction(async () => ((await navigator.locks.query()).pending ?? []).length > 0)
      await leaving.evaluate(() => (globalThis as unknown as { letGo(): void }).letGo())
      expect(await opening).toMatchObject({ writable: true })
    },
  )

  it('lose nothing when one takes over while the other writes, or is closed while writing', async () => {
    const [first, second] = [await tab(), await tab()]
    const { info } = await ask(first, 'make', { kind: 'empty' }, 'opfs')
    await ask(first, 'open', info.id)
    const writing = ask(first, 'keepWriting', info.id).catch((error: Error) => error.message)
    await expect.poll(() => ask(first, 'load', info.id, 'counter')).toBeGreaterThan(3)
    await ask(second, 'open', info.id, true)
    expect(await writing).toContain('another tab')
    const counter = async (page: Page): Promise<number> => {
      const file = (await ask(page, 'files', info.id)).find(({ path }) => path === 'counter')
      return Number(Buffer.from(file?.base64 ?? '', 'base64').toString())
    }
    const [inFile, kept] = [await counter(second), await ask(second, 'load', info.id, 'counter')]
    expect([inFile, inFile - 1], 'the stored content is that of the last or the previous commit').toContain(kept)

    void ask(second, 'keepWriting', info.id).catch(() => {})
    await expect.poll(() => counter(first)).toBeGreaterThan(inFile)
    await second.close()
    await expect.poll(() => ask(first, 'events')).toContainEqual({ kind: 'free' })
    await ask(first, 'close', info.id)
    expect(await ask(first, 'open', info.id)).toMatchObject({ writable: true })
    const last = await counter(first)
    expect([last, last - 1]).toContain(await ask(first, 'load', info.id, 'counter'))
  })
})

describe('other servers', () => {
  it('can be reached only by the worker, and only for allowed origins', async () => {
    const page = await tab()
    const root = mkdtempSync(join(tmpdir(), 'playground-git-'))
    const server = await serveGit(root)
    const questions: string[] = []
    person.on('request', (request) => questions.push(new URL(request.url()).origin))
    try {
      await expect(ask(page, 'fetchHere', `${server.url}/x`)).rejects.toThrow('Failed to fetch')
      await expect(ask(page, 'fetchOutside', ['https://other.example'], `${server.url}/x`)).rejects.toThrow(
        'not one of the allowed origins',
      )
      expect(server.requests).toEqual([])
      expect(questions.filter((origin) => origin !== new URL(playground.url).origin)).toEqual([])
    } finally {
      await server.close()
      rmSync(root, { recursive: true })
    }
  })

  it.runIf(isLong)('serve a repository, through a CORS proxy if one is configured', async () => {
    const root = mkdtempSync(join(tmpdir(), 'playground-git-'))
    const source = join(root, 'source')
    git(root, 'init', '-q', '-b', 'main', 'source')
    for (const [path, bytes] of Object.entries({
      'crlf.txt': 'a\r\n',
      '.env': 'TOKEN=1\n',
      'package-lock.json': '{}',
    })) {
      writeFileSync(join(source, path), bytes)
    }
    git(source, 'add', '-A', '-f')
    git(source, 'commit', '-q', '-m', 'first')
    git(root, 'clone', '-q', '--bare', 'source', 'x.git')
    const server = await serveGit(root)
    const proxy = await serveCorsProxy(server.url)
    try {
      const page = await tab()
      // The server itself allows no other origin, but its proxy does.
      const direct = ask(page, 'make', { kind: 'git', url: `${server.url}/x.git` }, 'opfs')
      await expect(direct).rejects.toThrow('a CORS proxy helps')
      expect(await ask(page, 'list')).toEqual([])
      const { info, warnings } = await ask(
        page,
        'make',
        { kind: 'git', url: 'https://git.example/x.git', corsProxy: proxy.url },
        'opfs',
      )
      expect(warnings).toEqual([])
      await ask(page, 'open', info.id)
      const files = await ask(page, 'files', info.id)
      const text = (path: string) =>
        Buffer.from(files.find((one) => one.path === path)?.base64 ?? '', 'base64').toString()
      expect(text('crlf.txt')).toBe('a\r\n')
      expect(text('.env')).toBe('TOKEN=1\n')
      expect(text('.git/HEAD')).toBe('ref: refs/heads/main\n')
      expect((await ask(page, 'phases')).length).toBeGreaterThan(2)

      const cancelled = ask(
        page,
        'make',
        { kind: 'git', url: 'https://git.example/x.git', corsProxy: proxy.url },
        'opfs',
        2,
      )
      await expect(cancelled).rejects.toThrow('cancelled')
      expect(await ask(page, 'list')).toHaveLength(1)
      await expect.poll(() => workspaces(page)).toEqual([info.id])
    } finally {
      await proxy.close()
      await server.close()
      rmSync(root, { recursive: true })
    }
  })
})

/** Returns what the browser still stores of a project, or of any project for an empty id. */
function leftovers(page: Page, id: string): Promise<string[]> {
  return page.evaluate(async (id) => {
    const matches: string[] = []
    const visit = async (path: string, directory: FileSystemDirectoryHandle): Promise<void> => {
      for await (const [name, handle] of directory.entries()) {
        const at = `${path}/${name}`
        if (handle.kind === 'directory') await visit(at, handle as FileSystemDirectoryHandle)
        else if (id === '' || at.includes(id)) matches.push(at)
      }
    }
    await visit('', await navigator.storage.getDirectory())
    return matches
  }, id)
}

/** Returns the library's workspaces in the browser's storage. */
function workspaces(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const home = await (await navigator.storage.getDirectory()).getDirectoryHandle('wardspace')
    const names: string[] = []
    for await (const name of home.keys()) if (/^p\w{15}$/.test(name)) names.push(name)
    return names
  })
}
