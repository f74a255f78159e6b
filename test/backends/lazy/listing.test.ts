import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LazyEntry, lazy } from '../../../src/backends/lazy/index.ts'
import { createListing } from '../../../src/backends/lazy/listing.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import { isLong } from '../../counts.ts'

const signal = new AbortController().signal
const file = (path: string): LazyEntry => ({ type: 'file', path, size: 0 })
const deep = (count: number, depth: number) =>
  Array.from({ length: count }, (_, i) => file(`${i}/${'d/'.repeat(depth)}f`))

describe('The listing of a source', () => {
  it('takes a time that is linear in the characters of the paths, however deep they are', async () => {
    const cpu = async (count: number, depth: number) => {
      const entries = deep(count, depth)
      const times: number[] = []
      for (let round = 0; round < 3; round++) {
        const before = process.cpuUsage()
        await createListing(entries, signal)
        const { user, system } = process.cpuUsage(before)
        times.push(user + system)
      }
      return Math.min(...times)
    }
    await cpu(400, 100)
    // The same number of names and characters; whole paths for each directory would be ten times the characters.
    expect((await cpu(40, 1000)) / (await cpu(400, 100))).toBeLessThan(4)
  })

  it('counts the directories that paths imply', async () => {
    await expect(createListing(deep(600, 2000), signal)).rejects.toThrow(/more than 1000000 entries/)
  })

  it('ends at the time limit, and lets others run', async () => {
    function* endless() {
      // Nothing is added: other bounds do not end it.
      for (let i = 0; i < 900_000; i++) yield { type: 'directory', path: `${'d/'.repeat(500)}d` } as const
    }
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 5)
    const backend = lazy({ list: async () => endless(), load: async () => new Uint8Array() }, { timeoutMs: 800 })
    await expect(backend.list('' as Path)).rejects.toThrow(/no answer within 800 ms/)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(3)
  })

  it.runIf(isLong)('bounds the characters of all paths', async () => {
    const path = Array.from({ length: 15 }, () => 'n'.repeat(250)).join('/')
    function* many() {
      for (let i = 0; i < 40_000; i++) yield { type: 'directory', path } as const
    }
    await expect(createListing(many(), signal)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })

  it('shows what is below directories only, in any order', async () => {
    const names = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
    const types = fc.constantFrom('file' as const, 'directory' as const)
    const entries = fc.array(fc.record({ path: names, type: types }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(entries, async (list) => {
        const at = (path: string) => list.filter((entry) => entry.path === path)
        const isTwice = (path: string) => at(path).length > 1 && at(path).some(({ type }) => type === 'file')
        const above = (path: string) =>
          path
            .split('/')
            .map((_, i, parts) => parts.slice(0, i).join('/'))
            .slice(1)
        const isShown = (path: string) =>
          at(path).length > 0 &&
          !isTwice(path) &&
          above(path).every((one) => !isTwice(one) && at(one).every(({ type }) => type === 'directory'))
        const shown = new Map<string, string>()
        for (const { path, type } of list) {
          if (!isShown(path)) continue
          shown.set(path, type)
          for (const one of above(path)) shown.set(one, 'directory')
        }
        const tree = await createListing(
          list.map(({ type, path }): LazyEntry => (type === 'file' ? file(path) : { type, path })),
          signal,
        )
        const found = new Map<string, string>()
        const walk = (path: string) => {
          const node = tree.node(path as Path)
          for (const { name, type } of node?.type === 'directory' ? node.entries : []) {
            const below = path === '' ? name : `${path}/${name}`
            found.set(below, type)
            walk(below)
          }
        }
        walk('')
        expect(new Map([...found].sort())).toEqual(new Map([...shown].sort()))
        expect(new Set(tree.omitted.map(({ path }) => path))).toEqual(
          new Set(list.map(({ path }) => path).filter((path) => !isShown(path))),
        )
      }),
      { numRuns: 300 },
    )
  })
})
