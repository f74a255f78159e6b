import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFs } from '../../../src/adapters/fs/index.ts'
import { memory } from '../../../src/backends/memory/index.ts'
import { overlay } from '../../../src/backends/overlay/index.ts'
import type { PolicyInput } from '../../../src/policy/schema.ts'
import type { Backend } from '../../../src/storage/backend.ts'
import { mounts } from '../../../src/storage/mounts.ts'
import { readOnly } from '../../../src/storage/read-only.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'
import type { FileChange } from '../../../src/workspace/files.ts'
import { isLong } from '../../counts.ts'
import { until } from '../../until.ts'
import { absent, afterwards, at, closeAfterEach, directory, place, put } from './setup.ts'

closeAfterEach()

const durable = { durability: 'durable' } as const
type Watch = NonNullable<Backend['watch']>

/** Runs a line of a shell in another process. */
function outside(root: string, line: string): void {
  execFileSync('sh', ['-ec', line], { cwd: root })
}

/** Watches a backend and collects what it reports. */
async function collect(backend: Backend, path = '', options?: Parameters<Watch>[2]) {
  const seen: string[] = []
  const end = await (backend.watch as Watch)(at(path), (paths) => seen.push(...(paths ?? ['any'])), options)
  afterwards(end)
  return { seen, end }
}

/** Waits until a last change by another process has been reported: those before it have been too. */
async function settle(root: string, seen: readonly string[], path = 'last'): Promise<string[]> {
  outside(root, `echo > ${path}`)
  await until('reported', () => seen.includes(path))
  return [...new Set(seen)].filter((each) => each !== path).sort()
}

// Links, permission bits and the `mv` of another process are those of Unix.
describe.skipIf(process.platform === 'win32')('watch of nodeBackend', () => {
  it('reports what another process creates, changes, renames and deletes', async () => {
    const { backend, root } = place({ 'a.txt': 'a', 'd/b.txt': 'b', 'd/gone.txt': 'g' })
    const { seen } = await collect(backend)
    outside(root, 'echo x >> a.txt; mv d/b.txt d/c.txt; rm d/gone.txt; chmod 600 d/c.txt')
    expect(await settle(root, seen)).toEqual(['a.txt', 'd/b.txt', 'd/c.txt', 'd/gone.txt'])
  })

  it('reports what is in directories that are new, moved or replaced', async () => {
    const { backend, root } = place({ 'd/old.txt': 'o' })
    const { seen } = await collect(backend)
    outside(root, 'mkdir -p n/deep; echo 1 > n/deep/f')
    expect(await settle(root, seen)).toEqual(['n', 'n/deep', 'n/deep/f'])
    seen.length = 0
    outside(root, 'echo 2 > n/deep/g; mv n m')
    expect(await settle(root, seen, 'last2')).toEqual(
      expect.arrayContaining(['m', 'm/deep', 'm/deep/f', 'm/deep/g', 'n']),
    )
    seen.length = 0
    outside(root, 'rm -r d; mkdir d; echo 3 > d/new.txt')
    expect(await settle(root, seen, 'last3')).toEqual(expect.arrayContaining(['d', 'd/new.txt']))
    seen.length = 0
    outside(root, 'echo 4 > d/later.txt')
    expect(await settle(root, seen, 'last4')).toEqual(['d/later.txt'])
  })

  it('does not report own commits and temporary files, and no directory of git', async () => {
    const { backend, root, open } = place({ 'a.txt': 'a', 'd/b.txt': 'b' })
    mkdirSync(join(root, '.git'))
    const { seen } = await collect(backend)
    await backend.commit([put('a.txt', 'two'), put('d/n.txt', 'n'), absent('d/b.txt')], durable)
    await backend.commit([directory('e'), put('e/f', 'f')], durable)
    for (let i = 0; i < 20; i++) await backend.commit([put('a.txt', `${i}`)], { durability: 'relaxed' })
    await expect(backend.commit([{ ...put('a.txt', 'x'), expect: 'absent' }], durable)).rejects.toThrow()
    const sink = await (backend.stage as NonNullable<Backend['stage']>)(at('large'))
    await sink.write(new Uint8Array(1000))
    await sink.discard()
    outside(root, 'echo x > .git/HEAD')
    expect(await settle(root, seen)).toEqual([])
    // Another opening of the same root is another writer.
    await open().commit([put('e/f', 'by others')], durable)
    await until('reported', () => seen.includes('e/f'))
    expect(new Set(seen)).toEqual(new Set(['last', 'e/f']))
  })

  it('reports a change by others to a file that was committed here', async () => {
    const { backend, root } = place()
    const { seen } = await collect(backend)
    for (let i = 0; i < 10; i++) {
      seen.length = 0
      await backend.commit([put('a.txt', `own ${i}`)], durable)
      outside(root, `printf 'oth ${i}' > a.txt`)
      await until('reported', () => seen.includes('a.txt'))
    }
  })

  it('watches one file or one directory, without what is beside or below', async () => {
    const { backend, root } = place({ 'd/a': 'a', 'd/e/b': 'b' })
    const [file, flat, deep] = [
      await collect(backend, 'd/a'),
      await collect(backend, 'd', { recursive: false }),
      await collect(backend, 'd'),
    ]
    outside(root, 'echo 1 > d/e/b; echo 2 > c; echo 3 > d/n; echo 4 > d/a')
    await settle(root, deep.seen, 'd/last')
    expect(new Set(deep.seen)).toEqual(new Set(['d/a', 'd/e/b', 'd/n', 'd/last']))
    await until('reported', () => file.seen.includes('d/a') && flat.seen.includes('d/last'))
    expect(new Set(file.seen)).toEqual(new Set(['d/a']))
    expect(new Set(flat.seen)).toEqual(new Set(['d/a', 'd/n', 'd/last']))
  })

  it('does not look through links that lead outside', async () => {
    const { backend, root, base } = place({ 'd/a': 'a' })
    mkdirSync(join(base, 'secret'))
    symlinkSync(join(base, 'secret'), join(root, 'link'))
    const { seen } = await collect(backend)
    outside(root, `rm -r d; ln -s ../secret d; echo 1 > ../secret/key; echo 2 > link/key2`)
    expect(await settle(root, seen)).toEqual(expect.arrayContaining(['d']))
    expect(seen.filter((path) => path.startsWith('link/') || path.includes('key'))).toEqual([])
    await expect(backend.watch?.(at('link'), () => {})).resolves.toBeTypeOf('function')
    await expect(backend.watch?.(at('d/key'), () => {})).rejects.toMatchObject({ code: 'PATH_REJECTED' })
  })

  it.runIf(isLong)('says that anything may have changed, when more changes than it counts', async () => {
    const { backend, root } = place()
    const { seen } = await collect(backend)
    outside(root, 'mkdir m; cd m; seq 10500 | xargs touch')
    await until('reported', () => seen.includes('any'))
    expect(seen.length).toBeLessThan(20_000)
  })

  it('refuses what is not there and a closed backend, and ends', async () => {
    const { backend, root } = place()
    const watch = backend.watch as Watch
    await expect(watch(at('missing'), () => {})).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const { seen, end } = await collect(backend)
    const other = await collect(backend)
    end()
    end()
    outside(root, 'echo 1 > a')
    await until('reported', () => other.seen.includes('a'))
    expect(seen).toEqual([])
    await backend.close()
    await expect(watch(at(''), () => {})).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
  })

  it('passes through mounts, overlays and read-only views', async () => {
    const { backend, root } = place({ 'a.txt': 'a', 'd/b.txt': 'b', 'hidden/x': 'x' })
    const draft = overlay(readOnly(backend), memory(), { closesLower: false })
    await draft.commit([put('a.txt', 'draft')], { durability: 'relaxed' })
    const tree = mounts({ '': memory(), disk: draft, 'disk/hidden': memory() })
    const [all, part] = [await collect(tree), await collect(tree, 'disk/d')]
    outside(root, 'echo 1 > a.txt; echo 2 > d/b.txt; echo 3 > hidden/x')
    outside(root, 'echo 4 > d/last')
    await until('reported', () => part.seen.includes('disk/d/last') && all.seen.includes('disk/d/last'))
    expect(new Set(part.seen)).toEqual(new Set(['disk/d/b.txt', 'disk/d/last']))
    expect(new Set(all.seen)).toEqual(new Set(['disk/d/b.txt', 'disk/d/last']))
  })
})

// As above.
describe.skipIf(process.platform === 'win32')('files.watch over nodeBackend', () => {
  const policy: PolicyInput = {
    preset: 'autonomous',
    rules: [
      { name: 'hide', action: 'deny', permissions: ['file:view'], paths: ['private', 'private/**', '**/*.hidden'] },
    ],
  }

  async function watched(path?: string) {
    const { backend, root } = place({ 'a.txt': 'a', 'private/p': 'p', 'd/x.hidden': 'x' })
    const workspace = await createWorkspace({ backend, policy })
    const end = new AbortController()
    afterwards(() => end.abort())
    const changes: FileChange[] = []
    const watching = await workspace.files.watch(path, { signal: end.signal })
    const reading = (async () => {
      for await (const change of watching) changes.push(change)
    })()
    return { workspace, root, end, changes, reading }
  }

  it('marks changes by others and never names a hidden path', async () => {
    const { workspace, root, changes, end, reading } = await watched()
    await workspace.files.write('own.txt', '1')
    await until('reported', () => changes.length === 1)
    outside(root, 'echo 1 > private/q; echo 2 > d/y.hidden; rm d/x.hidden; mkdir private/deep; echo 3 > private/deep/f')
    outside(root, 'echo 4 > a.txt; echo 5 > d/seen.txt; mkdir -p .git; echo 6 > .git/config')
    await until('reported', () => changes.some(({ paths }) => paths?.includes('d/seen.txt')))
    expect(changes[0]).toEqual({ paths: ['own.txt'], callId: expect.any(String) })
    const others = changes.slice(1)
    expect(others.every(({ external, callId }) => external === true && callId === undefined)).toBe(true)
    expect(new Set(others.flatMap(({ paths }) => paths))).toEqual(new Set(['a.txt', 'd/seen.txt']))
    end.abort()
    await reading
    outside(root, 'echo 7 > a.txt')
    const count = changes.length
    await workspace.files.write('own.txt', '2')
    expect(changes.length).toBe(count)
  })

  it('refuses a hidden directory and an unknown option', async () => {
    const { workspace } = await watched()
    await expect(workspace.files.watch('private')).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    await expect(workspace.files.watch('.', { deep: true } as object)).rejects.toThrow('deep')
  })

  it('reaches fs.promises.watch of wardspace/fs, with the kind of the event', async () => {
    const { workspace, root } = await watched('d')
    const fs = createFs(workspace)
    const end = new AbortController()
    const events: string[] = []
    const reading = (async () => {
      for await (const { eventType, filename } of fs.promises.watch('/', { recursive: true, signal: end.signal })) {
        events.push(`${eventType} ${filename}`)
      }
    })()
    // Node reports nothing that happened before the watching began.
    await until('reported', async () => {
      outside(root, 'echo again >> a.txt; echo hidden > private/p')
      await new Promise((resolve) => setTimeout(resolve, 100))
      return events.includes('change a.txt')
    })
    outside(root, 'rm a.txt')
    await until('reported', () => events.includes('rename a.txt'))
    end.abort()
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' })
    expect(events.filter((event) => event.includes('private'))).toEqual([])
  })
})
