import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../dist/backends/memory/index.js'
import { times } from '../counts.ts'
import { tree } from './label-tree.ts'
import { closeShell, freeTree, hops, tryFreeWay, tryWays, ways } from './label-ways.ts'

/** Each way once, to one of the places, and few of the scripts. `label-ways.long.ts` has all labels, sinks and backends. */
const some = ways.filter(({ isScript }, index) => isScript !== true || index % 6 === 0)

let attempts = 0
afterAll(async () => {
  console.log(`ways of labelled content: ${some.length}; tried: ${attempts}`)
  await closeShell()
})

describe('restricted content', () => {
  it.each(some)('keeps its label: $name', async (way) => {
    const to = ['pub/out.txt', 'tmp/out.txt'][some.indexOf(way) % 2] as string
    const { leaks } = await tryWays([{ way, from: 'conf/x.txt', to }], 'restricted', memory(tree))
    attempts += 1
    expect({ to, leaks }).toEqual({ to, leaks: [] })
  })
})

describe('unlabelled content in a workspace with restricted content', () => {
  it.each(hops.filter((way, index) => some.includes(way) && index % times(16, 2) === 0))(
    'stays public: $name',
    async (way) => {
      expect(await tryFreeWay(way, memory(freeTree))).toEqual({ labels: [], isEffective: true })
    },
  )
})

describe('public content', () => {
  it.each(some.filter((_, index) => index % times(32, 4) === 0))('reaches a public sink: $name', async (way) => {
    const legs = [{ way, from: 'conf/x.txt', to: 'pub/out.txt' }]
    const { leaks, isEffective } = await tryWays(legs, 'public', memory(tree))
    expect({ leaks, isEffective }).toEqual({ leaks: [], isEffective: true })
  })
})
