import fc from 'fast-check'
import { isLong } from './counts.ts'

// Some properties count how many of their cases meet what they are about. With a new seed for each of thousands of runs,
// one of them would fail by chance. `npm run test:long` draws new cases each time.
if (!isLong) fc.configureGlobal({ seed: 1 })
