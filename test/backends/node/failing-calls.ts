import { readdirSync, symlinkSync } from 'node:fs'
import { expect } from 'vitest'
import { sha256Text } from '../../../src/files/hash/sha256.ts'
import type { Change } from '../../../src/storage/backend.ts'
import { absent, directory, link, move, place, put, relaxed } from './setup.ts'
import { refusing } from './system-calls.ts'
import { treeOf } from './tree.ts'

/** A change set for each code path of a commit. */
export const sets = {
  'a file replaced': [put('a', 'new')],
  'a new file': [put('new', 'new')],
  'a new link': [link('new', 'a')],
  'a new directory': [directory('new'), put('new/x', 'x')],
  'a directory for a file': [{ ...directory('b'), expect: { sha256: sha256Text('b') } }, put('b/x', 'x')],
  'some of everything': [put('a', 'new'), absent('e/f'), absent('e'), link('l', 'b'), ...move('b', 'd/y', 'b')],
} satisfies Record<string, Change[]>

/** The system calls of a commit. */
export const calls = [
  'openSync',
  'linkSync',
  'renameSync',
  'unlinkSync',
  'mkdirSync',
  'rmdirSync',
  'symlinkSync',
  'writeSync',
  'ftruncateSync',
  'lstatSync',
] as const

/**
 * Commits a set once for each of its system calls, with that call and the following ones of the same name failing; each
 * value of `often` is a number of failures. After the next commit, the set must be applied completely or not at all.
 */
export async function failEach(names: readonly (typeof calls)[number][], set: Change[], often: readonly number[]) {
  let setup = await start()
  const before = treeOf(setup.root)
  await relaxed(setup.backend, ...set)
  const after = treeOf(setup.root)
  setup = await start()
  for (const name of names) {
    for (let nth = 0, isReached = true; isReached; nth++) {
      for (const times of often) {
        const { root, backend, own } = setup
        let count = 0
        const fromThe = (path: unknown) => !String(path).startsWith('/proc/sys') && count++ >= nth
        const outcome = await refusing(name, 'EIO', fromThe, () => relaxed(backend, ...set), times).catch(String)
        isReached = count > nth
        // A failed rollback or cleanup is completed before the next commit.
        await relaxed(backend, absent('none'))
        const match = treeOf(root)
        const isUnsaid = /Cannot take back/.test(String(outcome)) && match.size === after.size
        const isUndone = typeof outcome === 'string' && !isUnsaid
        expect([name, nth, times, outcome, match]).toEqual([name, nth, times, outcome, isUndone ? before : after])
        if (isUndone) continue
        await backend.close()
        expect(readdirSync(own())).toEqual(['journal'])
        setup = await start()
      }
    }
  }
}

/** A tree to change, after a first commit. */
async function start() {
  const setup = place({ a: 'a', b: 'b', 'd/x': 'x', 'e/f': 'f' })
  symlinkSync('a', `${setup.root}/l`)
  await relaxed(setup.backend, absent('none'))
  return setup
}
