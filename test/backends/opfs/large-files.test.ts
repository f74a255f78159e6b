import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { opfs } from '../../../src/backends/opfs/index.ts'
import type { Backend, EntryState, StagedContent } from '../../../src/storage/backend.ts'
import { largeBounds } from '../../../src/storage/large-bounds.ts'
import { at, bytesOf, change, commit, file, textAt } from '../../../src/testing/backend/case.ts'
import { browserStorage } from './browser-storage.ts'

const { fileBytes } = largeBounds
beforeAll(() => void Object.assign(largeBounds, { fileBytes: 10 }))
afterAll(() => void Object.assign(largeBounds, { fileBytes }))

afterEach(() => {
  vi.unstubAllGlobals()
})

const contents: StagedContent[] = []

async function staged(backend: Backend, text: string): Promise<EntryState> {
  const sink = await backend.stage?.(at('a'))
  await sink?.write(bytesOf(text))
  const content = (await sink?.finish()) as StagedContent
  contents.push(content)
  return { type: 'file', bytes: new Uint8Array(), content }
}

describe.each([true, false])('a large file, with synchronous handles and moves: %s', (sync) => {
  it('is replaced and deleted without being read, and put back if the set fails', async () => {
    const storage = browserStorage({ sync })
    const backend = await opfs({ layout: 'files' })
    const old = 'an old file that is large'
    await commit(backend, change('a', file(old)), change('b', file('b')))
    let failures = 0
    storage.around = (step, name) => {
      const isTarget = name === 'b' && (step === 'move' || step === 'createWritable')
      if (isTarget && failures++ === 0) throw new DOMException('it failed', 'QuotaExceededError')
    }
    const set = [change('a', await staged(backend, 'a new file that is large')), change('b', file('new'))]
    await expect(commit(backend, ...set)).rejects.toMatchObject({ code: 'NO_SPACE' })
    storage.around = () => undefined
    // What cannot be moved back is completed instead.
    const [a, b] = sync ? [old, 'b'] : ['a new file that is large', 'new']
    expect([await textAt(backend, 'a'), await textAt(backend, 'b')]).toEqual([a, b])
    await commit(backend, change('a', await staged(backend, 'the last file that is large')), change('b', null))
    expect(await textAt(backend, 'a')).toBe('the last file that is large')
    await commit(backend, change('a', null))
    expect(storage.names('wardspace/default/files')).toEqual([])
    for (const content of contents.splice(0)) await content.discard()
    expect(storage.names('wardspace/default/state')).toEqual([])
    await backend.close()
  })
})
