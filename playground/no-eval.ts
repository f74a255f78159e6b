import { config } from 'zod'

/*
 * Must be the first import. By default zod compiles functions from text. The policy of this page forbids that, and the
 * browser would report each attempt as a violation.
 */
config({ jitless: true })
