import { isObjectWith } from '../util/check-options.ts'

/** Checks an option that takes a backend. */
export const isBackend = isObjectWith('a backend', 'canonical', 'stat', 'list', 'read', 'commit', 'close')
