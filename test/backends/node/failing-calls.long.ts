import { describe, it } from 'vitest'
import { calls, failEach, sets } from './failing-calls.ts'
import { closeAfterEach } from './setup.ts'

closeAfterEach()

describe('a failing storage', () => {
  it.each(Object.entries(sets))(
    'applies a whole set or nothing, whichever system call fails: %s',
    async (_name, set) => {
      await failEach(calls, set, [1, 3])
    },
  )
})
