import { describe, expect, it } from 'vitest'
import { type MemoryEntry, memory } from '../../src/backends/memory/index.ts'
import { at, change, commit, file, snapshot, textAt } from '../../src/testing/backend/case.ts'

describe('memory()', () => {
  it('accepts text, bytes, modes, links and directories, and creates parents', async () => {
    const backend = memory({
      'a/b/text': 'héllo',
      'a/bytes': new Uint8Array([0, 255]),
      'a/run': { text: '#!', mode: 0o755 },
      'a/raw': { bytes: new Uint8Array([1]), mode: 0o600 },
      'a/link': { link: 'b/text' },
      empty: { directory: true },
      a: { directory: true },
      '.': { directory: true },
    })
    expect(await snapshot(backend)).toEqual(
      new Map([
        ['a', 'directory'],
        ['a/b', 'directory'],
        ['a/b/text', `file ${0o644} 6 héllo`],
        ['a/bytes', `file ${0o644} 2 \0\ufffd`],
        ['a/run', `file ${0o755} 2 #!`],
        ['a/raw', `file ${0o600} 1 \u0001`],
        ['a/link', 'link b/text'],
        ['empty', 'directory'],
      ]),
    )
  })

  it('accepts keys that are special in JavaScript objects', async () => {
    const backend = memory(JSON.parse('{"__proto__":"1","constructor":"2","a/__proto__/x":"3","hasOwnProperty":"4"}'))
    expect(await textAt(backend, '__proto__')).toBe('1')
    expect(await textAt(backend, 'constructor')).toBe('2')
    expect(await textAt(backend, 'a/__proto__/x')).toBe('3')
    expect((await backend.list(at(''))).map(({ name }) => name)).toEqual([
      '__proto__',
      'a',
      'constructor',
      'hasOwnProperty',
    ])
    expect(await memory({}).stat(at('toString'))).toBeUndefined()
  })

  it.each<[string, Record<string, unknown>]>([
    ['an absolute path', { '/etc/passwd': 'x' }],
    ['a path that leaves the root', { '../x': 'x' }],
    ['a path that leaves the root from a directory', { 'a/../../b': 'x' }],
    ['an empty path', { '': 'x' }],
    ['the root as a file', { '.': 'x' }],
    ['a drive letter', { 'C:/x': 'x' }],
    ['a backslash', { 'a\\b': 'x' }],
    ['a file below a file', { a: 'x', 'a/b': 'y' }],
    ['a file below a file, in reverse order', { 'a/b': 'y', a: 'x' }],
    ['a file below a link', { a: { link: 'b' }, 'a/c': 'x' }],
    ['a path twice', { 'a/b': '1', 'a//b': '2' }],
    ['a directory at the path of a file', { a: '1', './a': { directory: true } }],
    ['a link that leads outside', { a: { link: '../x' } }],
    ['an absolute link', { a: { link: '/x' } }],
    ['an invalid mode', { a: { text: 'x', mode: 0o10000 } }],
    ['a mode with a fraction', { a: { text: 'x', mode: 0.5 } }],
    ['text that is not well-formed', { a: 'x\ud800y' }],
    ['a number', { a: 1 }],
    ['null', { a: null }],
    ['an object of another shape', { a: { content: 'x' } }],
  ])('refuses %s with a TypeError', (_, files) => {
    expect(() => memory(files as Record<string, MemoryEntry>)).toThrow(TypeError)
  })

  it('copies no bytes, neither in nor out', async () => {
    const bytes = new Uint8Array([1, 2, 3])
    const backend = memory({ a: bytes })
    expect((await backend.read(at('a'))).bytes).toBe(bytes)
    const more = new Uint8Array([4, 5, 6])
    await commit(backend, change('b', file(more)))
    expect((await backend.read(at('b'))).bytes).toBe(more)
    expect((await backend.read(at('b'), { start: 1, end: 3 })).bytes.buffer).toBe(more.buffer)
  })

  it('returns the same tags, times and receipts for the same calls', async () => {
    const run = async () => {
      const backend = memory({ a: '1', 'd/b': '2' })
      const receipts = [
        await commit(backend, change('a', file('3')), change('d/c', file('4'))),
        await backend.commit([change('e', file('5'))], { durability: 'durable', at: 42 }),
      ]
      const stats = await Promise.all(['', 'a', 'd', 'd/b', 'd/c', 'e'].map((path) => backend.stat(at(path))))
      return JSON.stringify([receipts, stats])
    }
    expect(await run()).toBe(await run())
    expect(await run()).toContain('"modifiedAt":42')
  })

  it('uses the time of the commit, else of the clock, else 0', async () => {
    const timeOf = async (backend: ReturnType<typeof memory>, path: string) =>
      (await backend.stat(at(path)))?.modifiedAt
    let now = 100
    const clocked = memory({ a: '1' }, { clock: () => now })
    expect(await timeOf(clocked, 'a')).toBe(100)
    now = 200
    await commit(clocked, change('a', file('2')))
    expect(await timeOf(clocked, 'a')).toBe(200)
    await clocked.commit([change('a', file('3'))], { durability: 'relaxed', at: 300 })
    expect(await timeOf(clocked, 'a')).toBe(300)
    const plain = memory({ a: '1' })
    await commit(plain, change('b', file('2')))
    expect([await timeOf(plain, 'a'), await timeOf(plain, 'b')]).toEqual([0, 0])
  })

  it('gives every version of a path a unique tag, across nested forks', async () => {
    const first = memory({ f: '0' })
    const all = [first, first.fork(), first.fork()]
    all.push(all[1]?.fork() as typeof first)
    const tags = new Set([(await first.stat(at('f')))?.tag])
    for (let round = 0; round < 3; round++) {
      for (const backend of [...all]) {
        await commit(backend, change('f', file(`${round}`)))
        tags.add((await backend.stat(at('f')))?.tag)
      }
      all.push(first.fork(), (all[1] as typeof first).fork())
    }
    expect(tags.size).toBe(1 + 4 + 6 + 8)
  })

  it('changes the tag of a directory only with its names', async () => {
    const backend = memory({ 'd/f': '1', 'd/e/g': '2' })
    const tag = async () => (await backend.stat(at('d')))?.tag
    const first = await tag()
    await commit(backend, change('d/f', file('2')), change('d/e/h', file('3')))
    expect(await tag()).toBe(first)
    await commit(backend, change('d/new', file('2')))
    expect(await tag()).not.toBe(first)
  })

  it('completes a scan on the tree that it started with', async () => {
    const backend = memory({ a: 'before', b: 'before' })
    const paths: string[] = []
    await backend.scan([at('a'), at('b')], (_, bytes) => {
      void commit(backend, change('b', file('after')))
      return paths.push(new TextDecoder().decode(bytes)) > 0
    })
    expect(paths).toEqual(['before', 'before'])
    expect(await textAt(backend, 'b')).toBe('after')
  })
})
