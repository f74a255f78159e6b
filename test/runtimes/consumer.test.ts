import { builds } from './consumer.ts'
import { consumerCases } from './consumer-cases.ts'

consumerCases(builds)
