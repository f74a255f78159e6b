import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DurableStorage, durableObject } from '../../src/backends/durable-object.ts'
import { startWorker, subjectBindings } from './workerd.ts'

let workerd: Miniflare

beforeAll(async () => {
  workerd = await startWorker('worker.ts', subjectBindings)
})
afterAll(() => workerd.dispose())

async function get(path: string): Promise<unknown> {
  return (await workerd.dispatchFetch(`http://edge${path}`)).json()
}

describe('in a Durable Object', () => {
  it('a large file is stored in parts, read in ranges, moved without being written', async () => {
    expect(await get('/large')).toEqual({
      isSmallRight: true,
      takenBySmall: 2 * 256 * 1024,
      isWholeRight: true,
      parts: 35,
      partsWhenMoved: 35,
      partsAtLast: 0,
    })
  })

  it('commits never mix, over waits and over two backends on one storage', async () => {
    expect(await get('/at-once')).toEqual({ winners: 20, torn: 0 })
  })

  it('a database that fails at any statement leaves everything as it was, and is told without what it said', async () => {
    const { failures, ...rest } = (await get('/full')) as { failures: number }
    expect(rest).toEqual({ codes: ['BACKEND_ERROR', 'NO_SPACE'], isUnchanged: true, isChangedAtLast: true })
    expect(failures).toBeGreaterThan(8)
  })
})

it('a storage without SQLite is refused', () => {
  for (const storage of [undefined, {}, { get() {}, put() {} }]) {
    expect(() => durableObject(storage as unknown as DurableStorage)).toThrow(TypeError)
  }
})
