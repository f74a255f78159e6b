/**
 * How often something is done that finds more the more often it is done: few times in `npm test`, and all in
 * `npm run test:long`, which runs each test file that counts by this once more. A page is told by vite.
 */
export const times = (few: number, all: number): number => (expected() === 'all' ? all : few)

interface Meta {
  readonly env?: Readonly<Record<string, string | undefined>>
}

const expected = (): string | undefined =>
  (import.meta as Meta).env?.WARDSPACE_COUNTS ?? globalThis.process?.env.WARDSPACE_COUNTS
