import { isLong } from '../counts.ts'
import { builds } from './consumer.ts'
import { consumerCases } from './consumer-cases.ts'

/** `npm test` builds the project with one bundler, the long run with all. Vite also builds the page of the playground, from the sources. */
consumerCases(Object.fromEntries(Object.entries(builds).filter(([name]) => isLong || name === 'esbuild')))
