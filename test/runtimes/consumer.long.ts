import { longBuilds } from './consumer.ts'
import { consumerCases } from './consumer-cases.ts'

consumerCases(longBuilds)
