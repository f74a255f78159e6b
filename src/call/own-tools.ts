/** The checks of own tools. Loaded with a workspace that has some. */

export { requireToolNames } from '../tools/check-tool.ts'
export { createOwnToolRunner } from './run-own-tool.ts'
