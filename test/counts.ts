/**
 * How often something is done that finds more the more often it is done: few times in `npm test`, and all in
 * `npm run test:long`, which runs each test file that counts by this once more.
 */
export const times = (few: number, all: number): number =>
  globalThis.process?.env.WARDSPACE_COUNTS === 'all' ? all : few
