import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { canonicalOnDisk } from '../../../src/backends/node/canonical.ts'
import { retryOnDescriptorLimit } from '../../../src/backends/node/retry-descriptors.ts'
import { openRoot } from '../../../src/backends/node/root.ts'
import type { ToolError } from '../../../src/errors.ts'
import { sha256Text } from '../../../src/files/hash/sha256.ts'
import { type LogicalPath, type Path, ROOT } from '../../../src/paths/logical-path.ts'
import type { Backend, Change, DirectoryStats } from '../../../src/storage/backend.ts'
import { storageError } from '../../../src/storage/storage-error.ts'
import { afterwards, at, closeAfterEach, codeOf, commit, place, put, told } from './setup.ts'
import { meddling, refusing, systemError } from './system-calls.ts'

closeAfterEach()

describe('system errors', () => {
  it('are reported by meaning, or by their code, without the original message', () => {
    for (const [error, code, text] of [
      [systemError('ENOSPC'), 'NO_SPACE', 'Cannot read "a": no space is left on the storage'],
      [systemError('EWEIRD'), 'BACKEND_ERROR', 'Cannot read "a": the storage reported EWEIRD'],
      [systemError('/etc/passwd'), 'BACKEND_ERROR', 'Cannot read "a": the storage failed in an unexpected way'],
      [new RangeError('/etc/passwd'), 'BACKEND_ERROR', 'Cannot read "a": the storage failed in an unexpected way'],
      [undefined, 'BACKEND_ERROR', 'Cannot read "a": the storage failed in an unexpected way'],
    ] as const) {
      expect(storageError('read', at('a'), error)).toMatchObject({ code, message: text, details: { path: 'a' } })
    }
  })

  it('are retried while descriptors are short, up to a limit', async () => {
    let tries = 0
    const third = () => {
      tries += 1
      if (tries < 3) throw systemError('ENFILE')
      return tries
    }
    expect(await retryOnDescriptorLimit(third)).toBe(3)
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => (tries += 20_000))
    try {
      await expect(retryOnDescriptorLimit(() => Promise.reject(systemError('EMFILE')))).rejects.toThrow('EMFILE')
    } finally {
      clock.mockRestore()
    }
  })
})

describe('reading', () => {
  it('hashes a large file by its content, and notices writes in the meantime', async () => {
    const text = 'x'.repeat(2 * 1024 * 1024 + 1)
    const { root, backend } = place({ a: text })
    const expecting = (sha256: string): Change => ({ ...put('a', 'new'), expect: { sha256 } })
    const refused = await told(commit(backend, expecting('0'.repeat(64))))
    expect(refused).toMatchObject({ code: 'WRITE_CONFLICT', details: { currentSha256: sha256Text(text) } })
    const meddled = (real: () => unknown) => {
      appendFileSync(join(root, 'a'), '!')
      return real()
    }
    // A file that changes while it is hashed does not have the expected version.
    const changing = () => commit(backend, expecting(sha256Text(text)))
    expect(await codeOf(meddling('read', meddled, changing))).toBe('WRITE_CONFLICT')
    // A file that is truncated while it is hashed does not have it either.
    const cut = (real: () => unknown) => {
      truncateSync(join(root, 'a'), 5)
      return real()
    }
    expect(await codeOf(meddling('read', cut, changing))).toBe('WRITE_CONFLICT')
    const now = readFileSync(join(root, 'a'), 'utf8')
    await commit(backend, expecting(sha256Text(now)))
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('new')
  })

  it('refuses more than a gibibyte at once, and reads ranges of it', async () => {
    const { root, backend } = place({ large: '' })
    truncateSync(join(root, 'large'), 1024 ** 3 + 2)
    appendFileSync(join(root, 'large'), 'end')
    expect(await told(backend.read(at('large')))).toMatchObject({ code: 'LIMIT_EXCEEDED', details: { path: 'large' } })
    const { bytes: end } = await backend.read(at('large'), { start: 1024 ** 3, end: 1024 ** 3 + 9 })
    expect(new TextDecoder().decode(end)).toBe('\0\0end')
  })

  it.each([10, 2_000_000])(
    'returns the remaining bytes of a file of %i bytes that is truncated during the read',
    async (size) => {
      const { root, backend } = place({ a: 'x'.repeat(size) })
      // The second call on the descriptor in each attempt is after the read.
      let looks = 0
      const cut = (real: () => unknown) => {
        const stats = real()
        looks += 1
        if (looks > 1 && looks % 2 === 0) truncateSync(join(root, 'a'), size - looks)
        return stats
      }
      const read = await meddling('fstatSync', cut, () => backend.read(at('a')))
      expect(read.bytes.every((byte) => byte === 'x'.charCodeAt(0))).toBe(true)
      expect(read.bytes.length).toBeLessThan(size)
      // The tag is unique, since the content may not match any state of the file.
      expect(read.stat.tag).not.toBe((await backend.stat(at('a')))?.tag)
    },
  )

  it('refuses an entry that replaced a file between lstat and open', async () => {
    const { base, root, backend } = place({ a: 'a', 'd/b': 'b' }, { grounding: 'recheck' })
    mkdirSync(join(base, 'elsewhere'))
    writeFileSync(join(base, 'elsewhere/b'), 'secret')
    const swap = (real: () => unknown, path: string) => {
      if (path === join(root, 'a')) {
        unlinkSync(path)
        mkdirSync(path)
      } else if (path === join(root, 'd/b')) {
        renameSync(join(root, 'd'), join(base, 'd'))
        symlinkSync(join(base, 'elsewhere'), join(root, 'd'))
      }
      return real()
    }
    expect(await meddling('openSync', swap, () => codeOf(backend.read(at('a'))))).toBe('IS_DIRECTORY')
    expect(await meddling('openSync', swap, () => codeOf(backend.read(at('d/b'))))).toBe('PATH_REJECTED')
  })

  it('refuses every call after the root was replaced, without a held descriptor', async () => {
    const { base, root, backend } = place({ a: 'inside' }, { grounding: 'recheck' })
    await backend.read(at('a'))
    renameSync(root, join(base, 'moved'))
    mkdirSync(root)
    writeFileSync(join(root, 'a'), 'another')
    expect(await codeOf(backend.read(at('a')))).toBe('BACKEND_ERROR')
    expect(await codeOf(commit(backend, put('a', 'new')))).toBe('BACKEND_ERROR')
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('another')
  })

  it('omits names that are not UTF-8 from a list, and keeps names that only look like it', async () => {
    const { root, backend } = place({ 'is \ufffd': '' })
    for (const name of ['no ', 'is '])
      writeFileSync(Buffer.concat([Buffer.from(`${root}/${name}`), Buffer.from([0xff])]), '')
    expect((await backend.list(ROOT)).map(({ name }) => name)).toEqual(['is \ufffd'])
  })

  it('says how many entries that no listing shows keep a directory from being deleted', async () => {
    const { root, backend } = place({ 'd/a': 'a', 'e/a': 'a' })
    for (const name of ['b:c', 'no \xff', 'no \xfe']) writeFileSync(Buffer.from(`${root}/d/${name}`, 'latin1'), '')
    const drop = (path: string) => ({ path: at(path), expect: 'any', to: null }) as const
    const refused = (...paths: string[]) => commit(backend, ...paths.map(drop)).catch(({ message }: Error) => message)
    expect(await refused('d', 'd/a')).toBe(
      'Cannot delete directory "d": it is not empty, and 3 entries have names that a workspace cannot hold',
    )
    expect(await refused('e')).toBe('Cannot delete directory "e": it is not empty')
    expect(readFileSync(`${root}/d/a`, 'utf8')).toBe('a')
  })

  it('refuses a link with an unreadable target path', async () => {
    const { backend } = place({ 'd/a': 'a' })
    for (const [code, refusal] of [
      ['EACCES', 'd/a'],
      ['EIO', 'BACKEND_ERROR'],
    ]) {
      // Only the fast path fails: a single open that follows all links.
      const short = (_path: unknown, flags: unknown) => flags === 0x200000
      const match = refusing('openSync', code as string, short, () =>
        backend.canonical(at('d/a') as LogicalPath).catch((error: ToolError) => error.code),
      )
      expect(await match).toBe(refusal)
    }
  })
})

describe('reading many files', () => {
  const scanned = async (backend: Backend, ...paths: string[]) => {
    const seen: [string, number][] = []
    await backend.scan?.(paths.map(at), (path, entry) => seen.push([path, entry.length]) > 0)
    return seen
  }

  it('reads files of every size', async () => {
    const { root, backend } = place({ a: 'a', b: 'b'.repeat(300_000), c: 'c', d: 'd' })
    truncateSync(join(root, 'c'), 17 * 1024 * 1024)
    const sizes = [
      ['a', 1],
      ['b', 300_000],
      ['c', 17 * 1024 * 1024],
      ['d', 1],
    ]
    expect(await scanned(backend, 'a', 'b', 'c', 'd')).toEqual(sizes)
  })

  it('skips unreadable files, waits for descriptors, and throws any other failure', async () => {
    const { backend } = place({ 'd/a': 'a', 'e/b': 'b' })
    const both = () => scanned(backend, 'd/a', 'e/b')
    expect(await refusing('openSync', 'EACCES', /\/d$/, both)).toEqual([['e/b', 1]])
    expect(await refusing('openSync', 'EACCES', /\/a$/, both)).toEqual([['e/b', 1]])
    for (const code of ['EINVAL', 'EISDIR']) {
      expect(await refusing('readSync', code, /./, both, 1)).toEqual([['e/b', 1]])
    }
    expect(await refusing('openSync', 'EMFILE', /\/d$/, both, 2)).toEqual([
      ['d/a', 1],
      ['e/b', 1],
    ])
    for (const where of [/\/d$/, /\/a$/]) {
      expect(await told(refusing('openSync', 'EIO', where, both))).toMatchObject({ code: 'BACKEND_ERROR' })
    }
    expect(await told(refusing('readSync', 'EIO', /./, both))).toMatchObject({ code: 'BACKEND_ERROR' })
  })

  it('returns the remaining bytes of a truncated file', async () => {
    const { root, backend } = place({ a: 'abc' })
    const cut = (real: () => unknown) => {
      truncateSync(join(root, 'a'), 1)
      return real()
    }
    expect(await meddling('readSync', cut, () => scanned(backend, 'a'))).toEqual([['a', 1]])
  })
})

/** Runs `action` with a clock that advances one second per reading. */
async function slowly<T>(action: () => Promise<T>): Promise<T> {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000))
  try {
    return await action()
  } finally {
    clock.mockRestore()
  }
}

describe('walking a tree', () => {
  const tour = async (backend: Backend, start: string, before: (path: Path) => unknown, max = 0) => {
    const matches: string[] = []
    const skipped: string[] = []
    await backend.walk?.(at(start), {
      visit(path, entries, read) {
        before(path)
        if (max > 0) for (const { name } of entries) matches.push(`${name}=${read(name, max)?.length}`)
        return entries.filter(({ type }) => type === 'directory').map(({ name }) => name)
      },
      skipped: (path) => skipped.push(path),
    })
    return { found: matches, skipped }
  }

  it('throws if the start or the root is moved during the walk', async () => {
    for (const start of ['d', '']) {
      const { base, root, backend } = place({ 'd/e/f': '', 'd/g/h': '' })
      const whole = join(root, start)
      const moved = tour(backend, start, (path) => path.endsWith('e') && renameSync(whole, join(base, 'gone')))
      expect(await codeOf(moved)).toBe(start === '' ? 'BACKEND_ERROR' : 'PATH_REJECTED')
    }
    // The move is also noticed at a pause, and nothing more is read below the moved directory.
    const { base, root, backend } = place({ 'd/e/f': '', 'd/g/h': '' })
    const seen: string[] = []
    const moved = slowly(() =>
      tour(backend, 'd', (path) => {
        seen.push(path)
        if (path === 'd/e') renameSync(join(root, 'd'), join(base, 'gone'))
      }),
    )
    expect(await codeOf(moved)).toBe('PATH_REJECTED')
    expect(seen).toEqual(['d', 'd/e'])
  })

  it('reads the start of files only, waits for descriptors, and returns undefined for unreadable files', async () => {
    const { backend } = place({ a: 'abc', 'd/b': 'b' })
    const all = () => tour(backend, '', () => {}, 2)
    expect((await all()).found).toEqual(['a=2', 'd=undefined', 'b=1'])
    expect((await refusing('readSync', 'EIO', /./, all, 1)).found).toEqual(['a=undefined', 'd=undefined', 'b=1'])
    // Files are reported again after descriptors were short.
    expect((await refusing('openSync', 'EMFILE', /\/b$/, all, 1)).found).toEqual(['a=2', 'd=undefined', 'b=1'])
    expect((await refusing('openSync', 'EMFILE', /\/a$/, all, 1)).found).toEqual(['a=2', 'd=undefined', 'b=1'])
  })
})

describe('statDirectories', () => {
  const glance = async (backend: Backend, previous: Record<string, DirectoryStats | undefined>, ...paths: string[]) => {
    const results = (await backend.statDirectories?.(paths.map(at), (path) => previous[path])) ?? []
    return results.map((one) => one && { ...one, names: [...one.names], types: [...one.types] })
  }
  const later = async <T>(action: () => Promise<T>): Promise<T> => {
    const real = Date.now
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => real() + 10_000)
    try {
      return await action()
    } finally {
      clock.mockRestore()
    }
  }

  it('reuses previous names of an unchanged directory, by path or held open', async () => {
    const { root, backend } = place({ a: 'a', 'd/b': 'b', 'd/c': 'c' })
    await later(async () => {
      const [top, below] = (await backend.statDirectories?.([ROOT, at('d')], () => undefined)) ?? []
      expect(top?.stamp).toBeGreaterThan(0)
      const cached = { '': top, d: below }
      appendFileSync(join(root, 'd/b'), 'more')
      const none = () => {
        throw new Error('listed again')
      }
      const again = () => meddling('readdirSync', none, () => glance(backend, cached, '', 'd'))
      const [, seen] = await again()
      expect(seen).toMatchObject({ names: ['b', 'c'], types: [1, 1] })
      expect([seen?.facts[0], seen?.facts[5]]).toEqual([5, 1])
      // The physical path cannot be checked, so the directory is found through the open root.
      expect(await refusing('lstatSync', 'EACCES', (path) => path === join(root, 'd'), again)).toEqual([
        expect.anything(),
        seen,
      ])
      mkdirSync(join(root, 'd/new'))
      expect((await glance(backend, cached, 'd'))[0]).toMatchObject({ names: ['b', 'c', 'new'], types: [1, 1, 2] })
    })
  })

  it('yields to the event loop over many directories, with the same result', async () => {
    const { backend } = place({ a: 'a', 'd/b': 'b', 'e/c': 'c' })
    const all = () => glance(backend, {}, '', 'd', 'none', 'e')
    const atOnce = await all()
    let turns = 0
    let isDone = false
    const others = async () => {
      for (; !isDone; turns++) await new Promise((resolve) => setImmediate(resolve))
    }
    const [seen] = await Promise.all([slowly(all).finally(() => (isDone = true)), others()])
    expect(seen.map((one) => one?.names)).toEqual(atOnce.map((one) => one?.names))
    expect(turns).toBeGreaterThan(2)
  })

  it('reports the present type of a changed or deleted name, with a stamp of NaN', async () => {
    const { base, root, backend } = place({ 'd/a': 'a', 'd/b': 'b' })
    await later(async () => {
      const change = (real: () => unknown, path: string) => {
        if (path.endsWith('/a')) unlinkSync(join(root, 'd/a'))
        if (path.endsWith('/b')) {
          renameSync(join(root, 'd/b'), join(base, 'b'))
          symlinkSync('none', join(root, 'd/b'))
        }
        return real()
      }
      const [result] = await meddling('lstatSync', change, () => glance(backend, {}, 'd'))
      expect(result).toMatchObject({ stamp: Number.NaN, names: ['a', 'b'], types: [0, 3] })
      expect(result?.facts[0]).toBe(0)
    })
  })

  it('returns undefined for paths that are gone, not a directory or behind a link, and throws failures', async () => {
    for (const grounding of [{}, { grounding: 'recheck' }] as const) {
      const { base, root, backend } = place({ a: 'a', 'd/b': 'b' }, grounding)
      mkdirSync(join(base, 'outside'))
      symlinkSync('../outside', join(root, 'link'))
      const known = { d: (await backend.statDirectories?.([at('d')], () => undefined))?.[0] }
      rmSync(join(root, 'd'), { recursive: true })
      expect(await later(() => glance(backend, known, 'none', 'a', 'link', 'link/x', 'a/b', 'd'))).toEqual(
        Array(6).fill(undefined),
      )
      const top = () => glance(backend, {}, '')
      const gone = { readdirSync: 'ENOENT' }
      for (const [call, code] of Object.entries(gone)) {
        expect(await refusing(call as 'readdirSync', code, /./, top)).toEqual([undefined])
      }
      expect(await codeOf(refusing('readdirSync', 'EIO', /./, top))).toBe('BACKEND_ERROR')
      const error = await refusing('readdirSync', 'EMFILE', /./, top, 1)
      expect(error).toMatchObject([{ names: ['a', 'link'], types: [1, 3] }])
      expect(error[0]?.facts[0]).toBe(1)
    }
    const { backend } = place({ 'd/b': 'b' })
    const look = () => glance(backend, {}, 'd')
    expect(await refusing('openSync', 'EACCES', /\/d$/, look)).toEqual([undefined])
    expect(await codeOf(refusing('openSync', 'EIO', /\/d$/, look))).toBe('BACKEND_ERROR')
  })
})

describe('the kernel’s own files', () => {
  it('are refused below the root /, with every method', () => {
    const opened = openRoot('/')
    afterwards(() => opened.access.close())
    const { access } = opened
    for (const path of ['proc', 'proc/self/environ', 'sys', 'dev/null']) {
      expect(() => access.look(at(path))).toThrow('belongs to the operating system')
      expect(() => access.pin(at(path))).toThrow('belongs to the operating system')
    }
    const pin = access.pin(ROOT)
    afterwards(() => pin.close())
    expect(() => pin.child('proc')).toThrow('belongs to the operating system')
    expect(pin.holds()).toBe(true)
    const base = place({ 'd/a': 'a' })
    symlinkSync(join(base.root, 'd'), join(base.root, 'link'))
    const request = join(base.root, 'link/a').slice(1) as LogicalPath
    expect(canonicalOnDisk(opened, request, false)).toBe(join(base.root, 'd/a').slice(1))
  })

  it('are refused where they are mounted in the tree, unlike other file systems', async () => {
    const { root } = place({ 'd/a': 'a' })
    const { access } = openRoot(root)
    afterwards(() => access.close())
    const top = access.pin(ROOT)
    afterwards(() => top.close())
    const reached = (device: number, type: number, action: () => { close(): void }) => {
      const elsewhere = (real: () => unknown) => Object.assign(real() as Stats, { dev: device })
      return meddling('fstatSync', elsewhere, () =>
        meddling(
          'statfsSync',
          () => ({ type }),
          () => action().close(),
        ),
      )
    }
    const ways = [() => access.pin(at('d')), () => access.look(at('d/a')), () => top.child('d')]
    for (const [i, way] of ways.entries()) {
      await expect(reached(-1, 0x9fa0, way)).rejects.toThrow('belongs to the operating system')
      await reached(-2 - i, 0x1021994, way)
    }
  })
})
