import { it } from 'vitest'
import { dialects } from '../../src/dialects/index.ts'
import { protectsWhatIsProtected } from './whatever-is-asked.ts'

it.each(Object.entries(dialects))('%s protects what is protected, whatever it is asked', async (_name, open) => {
  await protectsWhatIsProtected(open(), 3000)
})
