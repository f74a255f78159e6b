import { config } from 'zod'

/*
 * First of all imports. Where it may, zod makes functions from text; the policy of this page forbids that, and each try
 * would be told as a breach of it.
 */
config({ jitless: true })
