import { describe, it } from 'vitest'
import { calls, failEach, sets } from './failing-calls.ts'
import { closeAfterEach } from './setup.ts'

closeAfterEach()

describe('a storage that refuses', () => {
  it.each(Object.entries(sets))('does all of a set or nothing of it, whichever call fails: %s', async (_name, set) => {
    await failEach(calls, set, [1, 3])
  })
})
