import { afterAll, describe, expect, it } from 'vitest'
import { closeShell, compareWorlds, readings, ways } from './commit-ids.ts'

let tried = 0
afterAll(async () => {
  console.log(`pairs of worlds, ways × readings: ${tried}`)
  await closeShell()
})

describe('what git computes from restricted content', () => {
  it.each(ways)('is labelled in every reading: $name', async (way) => {
    const pairs = await compareWorlds(way, readings)
    tried += pairs.length
    expect(pairs.filter(({ unlabelled }) => unlabelled.length > 0)).toEqual([])
  })
})
