import { Buffer } from 'buffer'
import { describe, expect, it } from 'vitest'
import { libraryRows } from './library-rows.ts'
import { opfsStorages } from './library-storages-opfs.ts'
import { runLibrary } from './run-library.ts'

// Of Node, isomorphic-git takes only this from a page.
Object.assign(globalThis, { Buffer })

/** The libraries that are here without an installation. `libraries.long.ts` runs all. */
const present: Readonly<Record<string, () => Promise<unknown>>> = {
  'isomorphic-git': () => import('isomorphic-git'),
  fflate: () => import('fflate'),
}

describe.each(Object.entries(opfsStorages()))('libraries on wardspace/fs over %s', (_, storage) => {
  it.each(libraryRows.filter(({ name }) => Object.hasOwn(present, name)))('$name', async (row) => {
    const load = async (name: string) => present[name]?.()
    const { passed, failed, leftOut } = await runLibrary(row, storage, { load })
    expect(failed).toEqual([])
    expect(leftOut).toHaveLength(row.needsRemote?.length ?? 0)
    expect(passed).toBe(1)
  })
})
