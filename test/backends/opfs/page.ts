import { opfs } from '../../../src/backends/opfs/index.ts'
import { sha256 } from '../../../src/files/hash/sha256.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import type { Backend, Change } from '../../../src/storage/backend.ts'

/** The functions that a test calls in a page, or in a worker of it. Both load this module. */
export type Layout = 'packed' | 'files'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const NAMES = ['a', 'b', 'd/c']
const opened = new Map<string, Promise<Backend>>()
const changes: unknown[] = []

const write = (path: string, text: string): Change => ({
  path: path as Path,
  expect: 'any',
  to: { type: 'file', bytes: encoder.encode(text) },
})

function open(name: string, layout: Layout): Promise<Backend> {
  const present = opened.get(name)
  if (present !== undefined) return present
  const opening = opfs({ name, layout, onChange: (changed) => changes.push(changed) })
  opened.set(name, opening)
  return opening
}

async function textOf(from: Backend, path: string): Promise<string> {
  return decoder.decode((await from.read(path as Path)).bytes)
}

/** A long text that makes a torn write visible. */
const content = (round: number): string => `${round}\n`.repeat(3_000)

const api = {
  async close(name: string): Promise<void> {
    await (await opened.get(name))?.close()
    opened.delete(name)
  },

  /** Starts a worker that writes until it is terminated after that time. Returns the last acknowledged set. */
  async writeAndKill(name: string, layout: Layout, from: number, ms: number): Promise<number> {
    const worker = new Worker(new URL('/page.js', location.href), { type: 'module' })
    let last = from
    await new Promise<void>((resolve, reject) => {
      worker.onerror = ({ message }) => reject(new Error(message))
      worker.onmessage = ({ data }) => {
        if (last === from) setTimeout(resolve, ms)
        last = data
      }
      worker.postMessage({ name, layout, from })
    })
    worker.terminate()
    return last
  },

  /** The sets that the files belong to. */
  async rounds(name: string, layout: Layout): Promise<number[]> {
    const from = await open(name, layout)
    const matches: number[] = []
    for (const path of NAMES) {
      const text = await textOf(from, path)
      const round = Number(text.split('\n')[0])
      matches.push(text === content(round) ? round : Number.NaN)
    }
    await api.close(name)
    return matches
  },

  /** One of two competitors: replaces the counter if it has the value of the previous round. */
  async race(name: string, layout: Layout, before: string, after: string): Promise<boolean> {
    const here = await open(name, layout)
    const expect = { sha256: sha256(encoder.encode(before)) }
    return here.commit([{ ...write('counter', after), expect }], { durability: 'durable' }).then(
      () => true,
      (error) => {
        if (error.code === 'WRITE_CONFLICT') return false
        throw error
      },
    )
  },

  async write(name: string, layout: Layout, path: string, text: string): Promise<void> {
    await (await open(name, layout)).commit([write(path, text)], { durability: 'durable' })
  },

  async read(name: string, layout: Layout, path: string): Promise<string> {
    return textOf(await open(name, layout), path)
  },

  changes: (): unknown[] => changes,

  /** Loads the modules that a patch needs. */
  async load(name: string, layout: Layout): Promise<void> {
    await import('../../../src/index.ts')
    await open(name, layout)
  },

  /** Creates 20 files, and starts a patch of all of them. Resolves when the patch has started. */
  async patch(name: string, layout: Layout, round: number): Promise<number> {
    // Imported only here, since it is most of the code.
    const { createWorkspace } = await import('../../../src/index.ts')
    const workspace = await createWorkspace({ backend: await open(name, layout), policy: 'autonomous' })
    const paths = Array.from({ length: 20 }, (_, i) => `f${i}.txt`)
    const line = (at: number) => `round ${at}`
    if (round === 0) {
      for (const path of paths) await workspace.call('write_file', { path, content: `${line(0)}\nrest\n` })
      return 20
    }
    const patch = paths
      .map((path) => `--- a/${path}\n+++ b/${path}\n@@ -1,2 +1,2 @@\n-${line(round - 1)}\n+${line(round)}\n rest\n`)
      .join('')
    const result = await workspace.call('apply_patch', { patch })
    return result.ok ? (result.filesTouched as readonly unknown[]).length : -1
  },

  async patched(name: string, layout: Layout): Promise<string[]> {
    const from = await open(name, layout)
    const texts = await Promise.all(Array.from({ length: 20 }, (_, i) => textOf(from, `f${i}.txt`)))
    await api.close(name)
    return texts
  },

  /** Commits files of 100 kB until one is refused. */
  async fill(name: string, layout: Layout): Promise<{ code: string; names: number; whole: boolean }> {
    const here = await open(name, layout)
    const pad = 'x'.repeat(100_000)
    for (let count = 0; count < 200; count++) {
      try {
        await here.commit([write(`pad-${count}`, pad), write('last', String(count))], { durability: 'durable' })
      } catch (error) {
        await api.close(name)
        const again = await open(name, layout)
        const names = (await again.list('' as Path)).length
        let whole = (await textOf(again, 'last')) === String(count - 1)
        for (let i = 0; i < count; i++) whole &&= (await textOf(again, `pad-${i}`)) === pad
        return { code: (error as { code: string }).code, names: names - 1 - count, whole }
      }
    }
    return { code: 'none', names: 0, whole: true }
  },

  /** All names below the directory of the workspace, as listed by the browser. */
  async names(name: string): Promise<string[]> {
    const all = await (await navigator.storage.getDirectory()).getDirectoryHandle('wardspace')
    const results: string[] = []
    const visit = async (path: string, directory: FileSystemDirectoryHandle): Promise<void> => {
      for await (const [child, handle] of directory.entries()) {
        results.push(`${path}${child}`)
        if (handle.kind === 'directory') await visit(`${path}${child}/`, handle as FileSystemDirectoryHandle)
      }
    }
    await visit('', await all.getDirectoryHandle(name))
    return results.sort()
  },
}

export type PageApi = typeof api
Object.assign(globalThis, { api })

if (typeof document === 'undefined') {
  globalThis.onmessage = async ({ data }: { data: { name: string; layout: Layout; from: number } }) => {
    const here = await open(data.name, data.layout)
    if (data.from === 0) {
      await here.commit([{ path: 'd' as Path, expect: 'any', to: { type: 'directory' } }], { durability: 'durable' })
    }
    for (let round = data.from + 1; ; round++) {
      await here.commit(
        NAMES.map((path) => write(path, content(round))),
        { durability: 'durable' },
      )
      globalThis.postMessage(round)
    }
  }
}
