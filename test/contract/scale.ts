import { times } from '../counts.ts'

/** Sizes of the largest trees in a contract, for storage that is slow for each file. */
export const scale = { files: times(40, 1000), depth: times(25, 200) }
