import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createArtifacts, isArtifactUri, parseArtifactUri } from '../../src/audit/artifacts.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { type Backend, createWorkspace, type Path } from '../../src/index.ts'
import { faulty, testClock } from '../../src/testing/index.ts'

describe('artifacts', () => {
  it('are named by their content', async () => {
    const artifacts = createArtifacts('run-1')
    const uri = artifacts.put('result.json', '{"ä":1}')
    const hash = createHash('sha256').update('{"ä":1}').digest('hex')
    expect(uri).toBe(`artifact://run-1/${hash.slice(0, 32)}.json`)
    expect(artifacts.put('other.json', new TextEncoder().encode('{"ä":1}'))).toBe(uri)
    expect(await artifacts.read(uri)).toBe('{"ä":1}')
    expect(artifacts.put('x', 'a')).toMatch(/\.txt$/)
    expect(artifacts.put('../../etc/passwd', 'b')).toMatch(/^artifact:\/\/run-1\/[0-9a-f]{32}\.txt$/)
  })

  it('are not affected by later writes to the bytes of the caller or reader', async () => {
    const artifacts = createArtifacts('r')
    const bytes = new Uint8Array([0, 255, 10])
    const uri = artifacts.put('x.bin', bytes)
    bytes.fill(7)
    const read = await artifacts.readBytes(uri)
    read.fill(8)
    expect([...(await artifacts.readBytes(uri))]).toEqual([0, 255, 10])
  })

  it('are made once, when they are first read', async () => {
    const artifacts = createArtifacts('r')
    let count = 0
    const make = () => `diff ${++count}`
    const uri = artifacts.putLazy('a.ts old new', 'diff', make)
    expect(artifacts.putLazy('a.ts old new', 'diff', make)).toBe(uri)
    expect(artifacts.putLazy('b.ts old new', 'diff', make)).not.toBe(uri)
    expect(count).toBe(0)
    expect(await artifacts.read(uri)).toBe('diff 1')
    expect(await artifacts.read(uri)).toBe('diff 1')
    expect(count).toBe(1)
  })

  it('of another run are not found', async () => {
    const one = createArtifacts('one')
    const two = createArtifacts('two')
    const uri = one.put('a.txt', 'secret of one')
    two.put('a.txt', 'secret of one')
    await expect(two.read(uri)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(two.readBytes(uri)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(one.read('artifact://one/__proto__')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('stay within their byte limit', () => {
    const artifacts = createArtifacts('r', { maxBytes: 10 })
    const uri = artifacts.put('a.txt', '123456')
    expect(artifacts.put('a.txt', '123456')).toBe(uri)
    expect(() => artifacts.put('b.txt', '12345')).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }))
    expect(() => artifacts.putLazy('k', 'diff', () => 'x', 5)).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED' }),
    )
    artifacts.put('b.txt', '1234')
  })

  it('are stored in a backend, and found by a later program', async () => {
    const backend = memory()
    const first = createArtifacts('run', { backend, maxBytes: 10 })
    const uris: string[] = []
    for (const text of ['1234567', '7654321', 'abcdefg']) {
      uris.push(first.put('a.txt', text))
      // Two at once would exceed the limit; content that the backend has stored no longer counts.
      await first.flush()
    }
    const lazy = first.putLazy('key', 'diff', () => '+line')
    await first.flush()
    const second = createArtifacts('run', { backend })
    expect(await Promise.all([...uris, lazy].map((uri) => second.read(uri)))).toEqual([
      '1234567',
      '7654321',
      'abcdefg',
      '+line',
    ])
    await expect(createArtifacts('else', { backend }).read(lazy)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('report a failing backend, and stay readable', async () => {
    const backend = faulty(memory(), { on: 'commit', error: new Error('full') })
    const artifacts = createArtifacts('run', { backend })
    const uri = artifacts.put('a.txt', 'text')
    await expect(artifacts.flush()).rejects.toThrow('full')
    expect(await artifacts.read(uri)).toBe('text')
    await artifacts.flush()
  })
})

describe('addresses', () => {
  it.each([
    'artifact://',
    'artifact://run',
    'artifact://run/',
    'artifact:///name',
    'artifact://run/../name',
    'artifact://../name',
    'artifact://run/..',
    'artifact://run/a/b',
    'artifact://run/a b',
    'artifact://run/%2e%2e',
    'artifact://run/a\\b',
    'artifact://run/a\n',
    'artifact://rün/a',
    'artifact://user@run/a',
    'artifact://run/a?x',
    'artifact://run/a#x',
    `artifact://run/${'a'.repeat(200)}`,
    `artifact://${'/'.repeat(100_000)}`,
    'Artifact://run/a',
    'file.txt',
    '',
  ])('refuses %j', async (uri) => {
    expect(() => parseArtifactUri(uri)).toThrow(expect.objectContaining({ code: 'PATH_REJECTED' }))
    await expect(createArtifacts('run').read(uri)).rejects.toMatchObject({ code: 'PATH_REJECTED' })
  })

  it('are distinguished from paths', () => {
    expect([isArtifactUri('artifact://x'), isArtifactUri('artifact'), isArtifactUri('a/artifact://x')]).toEqual([
      true,
      false,
      false,
    ])
  })

  it.each(['', '.', '..', 'a/b', 'a b', 'ä', 'x'.repeat(129), undefined, null, 5])('refuses the run id %j', (id) => {
    expect(() => createArtifacts(id as string)).toThrow(TypeError)
  })
})

describe('the artifacts of a workspace', () => {
  const work = async (artifacts: Backend) => {
    const files = memory({ 'a.txt': 'one\n'.repeat(3000) })
    const workspace = await createWorkspace({ backend: files, policy: 'autonomous', artifacts, run: { id: 'run' } })
    const edited = await workspace.call('edit_file', {
      path: 'a.txt',
      oldText: 'one',
      newText: 'two',
      replaceAll: true,
    })
    return { files, workspace, uri: String((edited as { artifactUri?: unknown }).artifactUri) }
  }

  it('are all in the backend after close, and a later workspace reads them in ranges', async () => {
    const artifacts = memory()
    const clock = testClock()
    const slow = faulty(artifacts, { on: 'commit', latencyMs: 20 }, { wait: clock.wait })
    const { workspace, uri } = await work(slow)
    expect(slow.calls.filter(({ operation }) => operation === 'commit')).toHaveLength(1)
    let isClosed = false
    const closing = workspace.close().then(() => {
      isClosed = true
    })
    await clock.advance(19)
    expect([isClosed, await artifacts.list('' as Path)]).toEqual([false, []])
    await clock.advance(1)
    await closing
    const later = await createWorkspace({
      backend: memory(),
      policy: 'autonomous',
      artifacts: artifacts,
      run: { id: 'run' },
    })
    const part = await later.call('read_file', { path: uri, startLine: 3005, maxLines: 2 })
    expect(part).toMatchObject({ ok: true, content: '+two\n+two\n', totalLines: 6004, startLine: 3005, endLine: 3006 })
    const other = await createWorkspace({
      backend: memory(),
      policy: 'autonomous',
      artifacts: artifacts,
      run: { id: 'other' },
    })
    expect(await other.call('read_file', { path: uri })).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('report a failing backend on close, after everything else is closed', async () => {
    let closed = false
    const { workspace, files } = await work(faulty(memory(), { on: 'commit', error: new Error('no room') }))
    const close = files.close
    Object.assign(files, {
      close: async () => {
        closed = true
        await close()
      },
    })
    await expect(workspace.close()).rejects.toThrow('no room')
    expect(closed).toBe(true)
  })
})

describe('artifacts in a backend', () => {
  it('are not found if they are missing or not files', async () => {
    const backend = memory({ 'run/dir.txt/x': '' })
    const artifacts = createArtifacts('run', { backend })
    for (const name of ['none.txt', 'dir.txt']) {
      await expect(artifacts.read(`artifact://run/${name}`)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
    const lazy = artifacts.putLazy('k', 'diff', () => 'made\n')
    await artifacts.flush()
    expect(await artifacts.read(lazy)).toBe('made\n')
  })
})
