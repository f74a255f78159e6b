import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../dist/backends/memory/index.js'
import { times } from '../counts.ts'
import {
  closeShell,
  hops,
  linkMakers,
  linkShows,
  makers,
  type NameWay,
  nameTree,
  shows,
  tryNames,
} from './name-ways.ts'

/** Some pairs, so that each way occurs. `name-ways.long.ts` has all of them. */
const pairs = makers.flatMap((make, m) =>
  shows.flatMap((show, s) =>
    (m * 7 + s * 3) % times(797, 97) === 0 ? [{ make, show, hop: hops[(m + s) % hops.length] }] : [],
  ),
)

const nothing = hops[0] as NameWay
const counts = { restricted: 0, links: 0, unlabelled: 0 }
afterAll(async () => {
  console.log(
    `names of restricted content: ${counts.restricted} cases; links: ${counts.links}; of unlabelled content: ${counts.unlabelled}`,
  )
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

describe('a link to a name that is made of restricted content', () => {
  it.each(linkMakers)('keeps its label in every use of the link: $name', async (make) => {
    const leaks: object[] = []
    for (const [at, show] of linkShows.entries()) {
      if ((at + make.name.length) % times(257, 1) !== 0) continue
      const result = await tryNames(make, nothing, show, 'restricted', memory(nameTree))
      counts.links += 1
      if (result.leaks.length > 0) leaks.push({ show: show.name, leaks: result.leaks })
    }
    expect(leaks).toEqual([])
  })
})

describe('a name that is made of unlabelled content', () => {
  it('stays public', async () => {
    for (const { make, show, hop } of pairs.filter((_, index) => index % times(47, 5) === 0)) {
      const { leaks } = await tryNames(make, hop as NameWay, show, 'none', memory(nameTree))
      counts.unlabelled += 1
      expect({ make: make.name, hop: hop?.name, show: show.name, leaks }).toMatchObject({ leaks: [] })
    }
  })
})
