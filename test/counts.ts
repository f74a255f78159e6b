/**
 * The number of repetitions of a randomised test: `few` in `npm test`, and `all` in `npm run test:long`, which also
 * runs the test files that call this function. In a page, vite provides the setting.
 */
export const times = (few: number, all: number): number => (expected() === 'all' ? all : few)

interface Meta {
  readonly env?: Readonly<Record<string, string | undefined>>
}

const expected = (): string | undefined =>
  (import.meta as Meta).env?.WARDSPACE_COUNTS ?? globalThis.process?.env.WARDSPACE_COUNTS
