import { isLong } from '../../counts.ts'

/** The ways to open each kind of storage. In `npm test`, they share the cases of the contract: each case runs in one of them. */
export const sharers: readonly (readonly string[])[] = [
  ['OPFS packed, worker', 'OPFS packed, page over worker', 'OPFS packed, page'],
  ['OPFS files, worker', 'OPFS files, page', 'directory handle, page'],
]

/** The cases that a way to open storage runs. */
export function shareOf<T>(name: string, cases: readonly T[]): readonly T[] {
  const ways = sharers.find((names) => names.includes(name)) ?? [name]
  return isLong ? cases : cases.filter((_, index) => index % ways.length === ways.indexOf(name))
}
