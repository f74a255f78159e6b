import { times } from '../counts.ts'

/** How large the largest trees of a contract are over storage that takes a file's time for each of their thousand. */
export const scale = { files: times(100, 1000), depth: times(50, 200) }
