import { appendFileSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { failEach, sets } from './failing-calls.ts'
import { absent, closeAfterEach, codeOf, commit, directory, link, move, place, put, told } from './setup.ts'
import { meddling, refusing } from './system-calls.ts'
import { straysIn, treeOf } from './tree.ts'

closeAfterEach()

/** Runs `act`, as another process, directly before the first system call `name` on a matching path. */
function interrupted<T>(
  name: Parameters<typeof meddling>[0],
  where: RegExp,
  act: () => void,
  action: () => Promise<T>,
): Promise<T> {
  let isDone = false
  return meddling(
    name,
    (real, path) => {
      if (!isDone && where.test(path)) {
        isDone = true
        act()
      }
      return real()
    },
    action,
  )
}

describe('a file that another process changes between check and change', () => {
  it('is kept by a single change', async () => {
    for (const change of [absent('a'), put('a', 'new'), link('a', 'b')]) {
      const { root, backend } = place({ a: 'old', b: 'b' })
      const theirs = () => appendFileSync(join(root, 'a'), ' and theirs')
      expect(await codeOf(interrupted('lstatSync', /\/a$/, theirs, () => commit(backend, change)))).toBe(
        'WRITE_CONFLICT',
      )
      expect(treeOf(root)).toEqual(
        new Map([
          ['a', 'file old and theirs'],
          ['b', 'file b'],
        ]),
      )
    }
  })

  it('is kept by a set, at any step', async () => {
    const { root, backend } = place({ a: 'old', b: 'b', c: 'c' })
    const set = () => commit(backend, put('a', 'new'), absent('b'), ...move('c', 'd', 'c'))
    // During backups, and during renames.
    for (const [name, where, theirs] of [
      ['linkSync', /\/a$/, 'a'],
      ['linkSync', /\/c$/, 'c'],
    ] as const) {
      const act = () => appendFileSync(join(root, theirs), '+')
      const before = treeOf(root)
      expect(await codeOf(interrupted(name, where, act, set))).toBe('WRITE_CONFLICT')
      expect(treeOf(root)).toEqual(new Map([...before, [theirs, `${before.get(theirs)}+`]]))
    }
    writeFileSync(join(root, 'c'), 'c')
    const replaced = () => {
      renameSync(join(root, 'b'), join(root, 'kept'))
      writeFileSync(join(root, 'b'), 'theirs')
    }
    const before = treeOf(root)
    expect(await codeOf(interrupted('renameSync', /./, replaced, set))).toBe('WRITE_CONFLICT')
    expect(treeOf(root)).toEqual(new Map([...before, ['b', 'file theirs'], ['kept', 'file b']]))
  })

  it('is kept by a new directory, whose temporary name is not shown', async () => {
    for (const act of ['take', 'swap'] as const) {
      const { base, root, backend } = place({ a: 'a' })
      mkdirSync(join(base, 'outside/e'), { recursive: true })
      const take = () => writeFileSync(join(root, 'd'), 'theirs')
      const swap = () => {
        const [temporary = ''] = straysIn(root)
        renameSync(join(root, temporary), join(base, 'moved'))
        symlinkSync(join(base, 'outside'), join(root, temporary))
      }
      const set = () => commit(backend, directory('d'), directory('d/e'), put('d/e/f', 'f'))
      const error = await told(
        act === 'take' ? interrupted('renameSync', /./, take, set) : interrupted('mkdirSync', /\/e$/, swap, set),
      )
      expect(error.code).toBe('WRITE_CONFLICT')
      expect(JSON.stringify([error.message, error.details])).not.toContain('.wardspace-')
      expect(treeOf(root)).toEqual(
        new Map([['a', 'file a'], ...(act === 'take' ? [['d', 'file theirs'] as const] : [])]),
      )
      expect(treeOf(join(base, 'outside'))).toEqual(new Map([['e', 'directory']]))
    }
  })
})

describe('a failing storage', () => {
  it('rolls a set back even if the journal cannot be written', async () => {
    const { root, backend } = place({ a: 'a', b: 'b' })
    await commit(backend, absent('none'))
    const before = treeOf(root)
    const note = (_fd: unknown, bytes: unknown) => Buffer.from(bytes as Uint8Array).includes('"undo":true')
    const set = () => commit(backend, put('a', 'A'), put('b', 'B'))
    const unnoted = () => refusing('writeSync', 'EIO', note, set)
    expect(await codeOf(refusing('renameSync', 'EIO', /./, unnoted, 1))).toBe('BACKEND_ERROR')
    expect(treeOf(root)).toEqual(before)
    await set()
    expect(straysIn(root)).toEqual([])
  })

  it('applies a whole set or nothing, whichever system call fails', async () => {
    await failEach(['renameSync'], sets['some of everything'], [3])
    await failEach(['ftruncateSync', 'writeSync', 'rmdirSync'], sets['a directory for a file'], [1, 3])
    await failEach(['linkSync', 'unlinkSync'], sets['a new file'], [1])
  })
})
