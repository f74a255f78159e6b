import { afterAll, describe, expect, it } from 'vitest'
import { times } from '../counts.ts'
import { closeShell, compareWorlds, freeWays, readings, ways } from './commit-ids.ts'

afterAll(closeShell)

const FEW = times(120, 20)

/** Every twentieth reading, or fewer in `npm test`, beginning with another one for each way, so that each occurs. `commit-ids.long.ts` takes all. */
const some = (offset: number) => readings.filter((_, index) => index % FEW === offset % FEW)

describe('what git computes from restricted content', () => {
  it.each(ways.map((way, index) => ({ way, index })))('is labelled: $way.name', async ({ way, index }) => {
    const pairs = await compareWorlds(way, some(index))
    expect(pairs.filter(({ unlabelled }) => unlabelled.length > 0)).toEqual([])
  })
})

describe('the id of a commit without restricted content', () => {
  it.each(freeWays)('stays public: $name', async (way) => {
    const pairs = await compareWorlds(way, ['git rev-parse HEAD', 'git log', 'git branch -v', 'git show -s'], false)
    expect(pairs.flatMap(({ labels }) => labels)).toEqual(pairs.flatMap(() => ['public', 'public']))
  })
})
