import { it } from 'vitest'
import { dialects } from '../../src/dialects/index.ts'
import { protectsWhatIsProtected } from './random-calls.ts'

it.each(Object.entries(dialects))(
  '%s shows and changes nothing that policy protects, for any input',
  async (_name, open) => {
    await protectsWhatIsProtected(open(), 3000)
  },
)
