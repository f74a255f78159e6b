import { afterAll, describe, expect, it } from 'vitest'
import { closeShell, compareWorlds, freeWays, readings, ways } from './commit-ids.ts'

afterAll(closeShell)

/** Every twentieth reading, beginning with another one for each way, so that each occurs. `commit-ids.long.ts` takes all. */
const some = (offset: number) => readings.filter((_, index) => index % 20 === offset % 20)

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
