import { memory } from '../../src/backends/memory/index.ts'
import type { Subject } from './program.ts'

/** The program for runtimes with web APIs only. */
export const subjects = (): Readonly<Record<string, Subject>> => ({
  memory: () => ({ backend: memory() }),
})
