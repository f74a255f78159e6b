import { isLong } from '../counts.ts'
import { builds } from './consumer.ts'
import { consumerCases } from './consumer-cases.ts'

/** In `npm test`, vite is covered by the page of the playground, which it builds. */
consumerCases(Object.fromEntries(Object.entries(builds).filter(([name]) => isLong || name === 'esbuild')))
