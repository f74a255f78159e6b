import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { createWorkspace } from '../../src/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { writeFiles } from '../write-files.ts'
import { increment, MERGED_FILES, textOf, textsOf } from './merged-files.ts'

let base: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'merge-steps-')))
  const text = textOf({ below: 0, overlay: 0, fork: 0 })
  writeFiles(join(base, 'root'), Object.fromEntries(MERGED_FILES.map((path) => [path, text])))
  mkdirSync(join(base, 'upper'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

/** Opens the files and an overlay over them, both on disk. Every commit passes `step`. */
async function open(step: (commit: () => Promise<never>) => Promise<never> = (commit) => commit()) {
  const stepped = (name: string): Backend => {
    const backend = nodeBackend(join(base, name), { stateDir: join(base, `${name}-state`) })
    return { ...backend, commit: (changes, options) => step(() => backend.commit(changes, options) as Promise<never>) }
  }
  const lower = stepped('root')
  const draft = overlay(lower, stepped('upper'), { closesLower: false })
  const below = await createWorkspace({ backend: lower, policy: 'autonomous' })
  const above = await createWorkspace({ backend: draft, policy: 'autonomous' })
  const close = async () => {
    await above.close()
    await below.close()
  }
  return { below, above, draft, close }
}

/** The commits of one merge: the note, the files below, the files of the overlay, the bases, and the cleanup. */
const COMMITS = 5

describe.each(['before', 'after'])('a merge that ends %s a step', (when) => {
  it.each(Array.from({ length: COMMITS + 1 }, (_, at) => at))('%i is whole, and later changes merge', async (last) => {
    let commits: number | undefined
    const first = await open(async (commit) => {
      if (commits === undefined) return commit()
      const at = commits++
      if (at < last) return commit()
      if (at === last && when === 'after') await commit()
      throw new Error('The process has ended')
    })
    await increment(first.above, 'overlay')
    await increment(first.below, 'below')
    commits = 0
    const merged = await first.above.commit({ merge: true })
    if (last === COMMITS) expect([merged.ok, commits]).toEqual([true, COMMITS])
    await first.close()

    const { below, above, draft, close } = await open()
    await increment(above, 'overlay')
    await increment(below, 'below')
    expect(await above.commit({ merge: true })).toMatchObject({ ok: true })
    const text = textOf({ below: 2, overlay: 2, fork: 0 })
    expect(await textsOf(below)).toEqual(MERGED_FILES.map(() => text))
    expect(await draft.pending()).toEqual([])
    await close()
  })
})

it.each([false, true])('a merge that is refused leaves no note; its removal fails: %s', async (fails) => {
  let commits: number | undefined
  const first = await open((commit) => {
    if (commits === undefined) return commit()
    commits += 1
    // The third commit removes the note.
    return fails && commits === 3 ? Promise.reject(new Error('No space')) : commit()
  })
  await increment(first.above, 'overlay')
  const pending = await first.draft.pending()
  await first.below.files.delete(MERGED_FILES[0])
  commits = 0
  await expect(first.draft.accept(pending, { durability: 'durable' })).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
  expect(commits).toBe(3)
  // What was refused is there now, by others, and the overlay goes on.
  const text = textOf({ below: 0, overlay: 1, fork: 0 })
  for (const name of MERGED_FILES) await first.below.files.write(name, text)
  await increment(first.above, 'overlay')
  await first.close()
  const { above, close } = await open()
  expect(await textsOf(above)).toEqual(MERGED_FILES.map(() => textOf({ below: 0, overlay: 2, fork: 0 })))
  await close()
})
