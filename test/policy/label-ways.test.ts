import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { tree, tryWays, ways } from './label-ways.ts'

const counts = { tried: 0, effective: 0 }
afterAll(() =>
  console.log(
    `ways of labelled content: ${ways.length}; tried: ${counts.tried}, of them effective: ${counts.effective}`,
  ),
)

describe('labelled content', () => {
  for (const to of ['pub/out.txt', 'tmp/out.txt']) {
    it.each(ways)(`keeps its label on the way to ${to}: $name`, async (way) => {
      const { leaks, isEffective } = await tryWays([{ way, from: 'conf/x.txt', to }], 'restricted', memory(tree))
      counts.tried += 1
      if (isEffective) counts.effective += 1
      expect(leaks).toEqual([])
    })
  }
})
