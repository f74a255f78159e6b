import { Volume } from 'memfs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { memfs } from '../../src/backends/memfs/index.ts'
import { sha256 } from '../../src/files/hash/sha256.ts'
import { at, bytesOf, change, commit, directory, file, link, snapshot, textAt } from '../../src/testing/backend/case.ts'

const codeOf = (action: Promise<unknown>) =>
  action.then(
    () => 'ok',
    (error) => error.code as string,
  )

describe('memfs()', () => {
  afterEach(() => void vi.useRealTimers())

  it('shares the volume: each side reads what the other writes', async () => {
    const volume = Volume.fromJSON({ '/project/a': 'theirs' })
    const backend = memfs(volume, { root: '/project' })
    expect(await textAt(backend, 'a')).toBe('theirs')
    await commit(backend, change('d', directory), change('d/b', file('ours')))
    expect(volume.toJSON()).toEqual({ '/project/a': 'theirs', '/project/d/b': 'ours' })
    volume.writeFileSync('/project/d/b', 'theirs again')
    expect(await textAt(backend, 'd/b')).toBe('theirs again')
  })

  it('sees a change by other code before a commit', async () => {
    const volume = Volume.fromJSON({ '/a': 'one' })
    const backend = memfs(volume)
    const { tag } = (await backend.stat(at('a'))) as { tag: string }
    volume.writeFileSync('/a', 'two')
    expect(await codeOf(commit(backend, change('a', file('x'), { sha256: sha256(bytesOf('one')) })))).toBe(
      'WRITE_CONFLICT',
    )
    expect(await codeOf(commit(backend, change('a', file('x'), { tag })))).toBe('WRITE_CONFLICT')
    expect(volume.readFileSync('/a', 'utf8')).toBe('two')
  })

  it('sees a change of the same size within one tick of a fixed clock', async () => {
    vi.useFakeTimers({ now: 1000 })
    const volume = Volume.fromJSON({ '/a': 'one' })
    const backend = memfs(volume)
    const tag = async () => (await backend.stat(at('a')))?.tag
    const first = await tag()
    volume.writeFileSync('/a', 'two')
    expect(await tag()).not.toBe(first)
    const descriptor = volume.openSync('/a', 'r+')
    volume.writeSync(descriptor, 'one', 0)
    expect(await tag()).toBe(first)
  })

  it('restores everything when the volume fails in the middle of a set', async () => {
    const volume = Volume.fromJSON({ '/d/a': 'a', '/d/b': 'b', '/gone/x': 'x', '/locked/f': 'f' })
    volume.chmodSync('/d/a', 0o751)
    volume.symlinkSync('d/a', '/l')
    volume.utimesSync('/d/a', 5, 5)
    const backend = memfs(volume)
    const before = await snapshot(backend)
    volume.chmodSync('/locked', 0o000)
    const code = await codeOf(
      commit(
        backend,
        change('d/a', file('A', 0o600)),
        change('d/b', null),
        change('gone/x', null),
        change('gone', null),
        change('l', file('no link')),
        change('m', link('d')),
        change('new', directory),
        change('new/f', file('n')),
        change('locked/z', file('fails')),
      ),
    )
    expect(code).toBe('BACKEND_ERROR')
    volume.chmodSync('/locked', 0o777)
    expect(await snapshot(backend)).toEqual(before)
    expect(volume.statSync('/d/a').mtime.getTime()).toBe(5000)
  })

  it('reports no physical path when the volume fails', async () => {
    const volume = Volume.fromJSON({ '/secret-place/f': 'x' })
    volume.chmodSync('/secret-place/f', 0)
    const error = await memfs(volume, { root: '/secret-place' })
      .read(at('f'))
      .catch((reason: Error) => reason)
    expect(error).toMatchObject({ code: 'BACKEND_ERROR', message: 'Cannot read "f": permission denied' })
  })

  it('breaks hard links instead of writing through them', async () => {
    const volume = Volume.fromJSON({ '/outside/f': 'shared', '/project/x': '' })
    volume.linkSync('/outside/f', '/project/f')
    await commit(memfs(volume, { root: '/project' }), change('f', file('mine')))
    expect(volume.readFileSync('/outside/f', 'utf8')).toBe('shared')
    expect(volume.readFileSync('/project/f', 'utf8')).toBe('mine')
  })

  it('omits names that parsePath refuses, but counts them when a directory is deleted', async () => {
    const volume = Volume.fromJSON({ '/d/a\\b': 'x', '/d/c:d': 'x', '/d/e\nf': 'x', '/d/ ': 'x' })
    const backend = memfs(volume)
    expect(await backend.list(at('d'))).toEqual([])
    expect(await codeOf(commit(backend, change('d', null)))).toBe('DIRECTORY_NOT_EMPTY')
  })

  it('deletes a directory that other code renamed into', async () => {
    const volume = Volume.fromJSON({ '/d/a': 'x', '/d/b': 'y' })
    volume.renameSync('/d/a', '/d/b')
    const backend = memfs(volume)
    await commit(backend, change('d/b', null), change('d', null))
    expect(await backend.list(at(''))).toEqual([])
  })

  it('finds nothing after the root was replaced by a link', async () => {
    const volume = Volume.fromJSON({ '/project/f': 'x', '/outside/f': 'secret' })
    const backend = memfs(volume, { root: '/project' })
    volume.renameSync('/project', '/moved')
    volume.symlinkSync('/outside', '/project')
    expect(await backend.stat(at('f'))).toBeUndefined()
    expect(await codeOf(backend.read(at('f')))).toBe('NOT_FOUND')
    expect(await codeOf(backend.list(at('')))).not.toBe('ok')
    expect(await codeOf(commit(backend, change('g', file('x'))))).not.toBe('ok')
    expect(volume.readdirSync('/outside')).toEqual(['f'])
  })

  it('refuses links that lead outside and back in', async () => {
    const volume = Volume.fromJSON({ '/project/f': 'x' })
    volume.symlinkSync('../project/f', '/project/l')
    volume.symlinkSync('/project/f', '/project/m')
    const backend = memfs(volume, { root: '/project' })
    expect(await codeOf(backend.canonical(at('l')))).toBe('PATH_REJECTED')
    expect(await codeOf(backend.canonical(at('m')))).toBe('PATH_REJECTED')
  })

  it('throws a TypeError for a root that is not a directory', () => {
    const volume = Volume.fromJSON({ '/f': 'x' })
    for (const root of ['/f', '/none', 'relative', '']) expect(() => memfs(volume, { root }), root).toThrow(TypeError)
    expect(() => memfs(undefined as never)).toThrow(/needs a Volume of the package memfs: npm install memfs/)
  })

  it('sets the time of a commit on files, links, directories and their parents', async () => {
    const backend = memfs(new Volume())
    await backend.commit([change('d', directory)], { durability: 'relaxed', at: 1000 })
    await backend.commit([change('d/f', file('x')), change('d/l', link('f'))], { durability: 'relaxed', at: 2345 })
    const times = await Promise.all(['d', 'd/f', 'd/l'].map(async (path) => (await backend.stat(at(path)))?.modifiedAt))
    expect(times).toEqual([2345, 2345, 2345])
    await backend.commit([change('d/f', file('y'))], { durability: 'relaxed', at: 9000 })
    expect((await backend.stat(at('d')))?.modifiedAt).toBe(9000)
  })

  it('restores files, links and directories with their permission bits when a set fails', async () => {
    const volume = Volume.fromJSON({ '/f': 'f', '/d/x': 'x' })
    volume.symlinkSync('f', '/l')
    volume.chmodSync('/d', 0o750)
    const backend = memfs(volume)
    const before = await snapshot(backend)
    const write = volume.writeFileSync.bind(volume)
    volume.writeFileSync = (...input: Parameters<typeof write>) => {
      if (input[0] === '/z') throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      write(...input)
    }
    const set = [change('f', null), change('l', null), change('d/x', null), change('d', null), change('n', link('f'))]
    expect(await codeOf(commit(backend, ...set, change('m', directory), change('z', file('z'))))).toBe('NO_SPACE')
    expect(await snapshot(backend)).toEqual(before)
    expect(volume.statSync('/d').mode & 0o777).toBe(0o750)
  })

  it('reports the entry that a link replaced', async () => {
    const volume = Volume.fromJSON({ '/f': 'f' })
    volume.symlinkSync('f', '/l')
    const { applied } = await commit(memfs(volume), change('l', null))
    expect(applied).toEqual([{ path: 'l', before: { type: 'link', target: 'f' }, after: null }])
  })

  it('sets no time on entries that a set leaves unchanged', async () => {
    const backend = memfs(new Volume())
    await backend.commit([change('d', directory)], { durability: 'relaxed', at: 1000 })
    const again = [change('d', directory), change('none', null)]
    await backend.commit(again, { durability: 'relaxed', at: 5000 })
    expect((await backend.stat(at('d')))?.modifiedAt).toBe(1000)
  })

  it('reports other entries as other, and leaves them alone', async () => {
    const volume = Volume.fromJSON({ '/a': 'a' })
    const { mode } = volume.statSync('/a')
    const device = volume.lstatSync.bind(volume)
    // No method of a volume creates such an entry, but other code may.
    volume.lstatSync = ((...value: Parameters<typeof device>) =>
      Object.assign(device(...value) as object, { isFile: () => false, mode })) as typeof volume.lstatSync
    const backend = memfs(volume)
    expect((await backend.stat(at('a')))?.type).toBe('other')
    expect(await codeOf(backend.read(at('a')))).toBe('PATH_REJECTED')
    expect(await codeOf(commit(backend, change('a', file('b'))))).toBe('PATH_REJECTED')
  })

  it.each([
    ['ENOENT', 'NOT_FOUND', 'it does not exist'],
    ['ENOSPC', 'NO_SPACE', 'no space is left on the storage'],
    ['EPERM', 'BACKEND_ERROR', 'permission denied'],
    ['EROFS', 'READ_ONLY', 'the storage is read-only'],
    ['EIO', 'BACKEND_ERROR', 'the storage reported an input/output error'],
    [undefined, 'BACKEND_ERROR', 'the storage failed in an unexpected way'],
  ])('maps the error %s of the volume', async (errno, code, why) => {
    const volume = Volume.fromJSON({ '/a': 'a' })
    volume.writeFileSync = () => {
      throw Object.assign(new Error('/a'), { code: errno })
    }
    const failed = commit(memfs(volume), change('b', file('b')))
    await expect(failed).rejects.toMatchObject({ code, message: `Cannot write "b": ${why}` })
    expect(volume.toJSON()).toEqual({ '/a': 'a' })
  })
})
