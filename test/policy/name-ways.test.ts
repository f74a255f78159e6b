import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../dist/backends/memory/index.js'
import { closeShell, hops, makers, type NameWay, nameTree, shows, tryNames } from './name-ways.ts'

/** Some pairs, so that each way occurs. `name-ways.long.ts` has all of them. */
const pairs = makers.flatMap((make, m) =>
  shows.flatMap((show, s) => ((m * 7 + s * 3) % 97 === 0 ? [{ make, show, hop: hops[(m + s) % hops.length] }] : [])),
)

const counts = { restricted: 0, unlabelled: 0 }
afterAll(async () => {
  console.log(`names of restricted content: ${counts.restricted} cases; of unlabelled content: ${counts.unlabelled}`)
  await closeShell()
})

describe('a name that is made of restricted content', () => {
  it.each(makers)('keeps its label: $name', async (make) => {
    for (const { show, hop } of pairs.filter((pair) => pair.make === make)) {
      const { leaks } = await tryNames(make, hop as NameWay, show, 'restricted', memory(nameTree))
      counts.restricted += 1
      expect({ hop: hop?.name, show: show.name, leaks }).toEqual({ hop: hop?.name, show: show.name, leaks: [] })
    }
  })
})

describe('a name that is made of unlabelled content', () => {
  it('stays public', async () => {
    for (const { make, show, hop } of pairs.filter((_, index) => index % 5 === 0)) {
      const { leaks } = await tryNames(make, hop as NameWay, show, 'none', memory(nameTree))
      counts.unlabelled += 1
      expect({ make: make.name, hop: hop?.name, show: show.name, leaks }).toMatchObject({ leaks: [] })
    }
  })
})
