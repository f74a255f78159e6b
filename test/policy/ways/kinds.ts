import type { Way } from './subject.ts'

/** Groups in which every tool, dialect, framework or method is a kind of its own, by the first word of the name. */
const byFirstWord = ['tool', 'dialect', 'framework', 'acp']

/** Returns the kinds of ways in groups: the group, with the tool, dialect, framework or method. */
export function kindsIn<W extends Way>(groups: Readonly<Record<string, readonly W[]>>): (way: W) => string {
  const kinds = new Map<W, string>()
  for (const [group, ways] of Object.entries(groups)) {
    for (const way of ways) kinds.set(way, byFirstWord.includes(group) ? `${group} ${way.name.split(' ')[0]}` : group)
  }
  return (way) => kinds.get(way) ?? ''
}
