import { memory } from '../../src/backends/memory/index.ts'
import type { Subject } from './program.ts'

/** What runs where there is nothing but the web. */
export const subjects = (): Readonly<Record<string, Subject>> => ({
  memory: () => ({ backend: memory() }),
})
