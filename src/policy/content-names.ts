import { nameOf, type Path } from '../paths/logical-path.ts'
import type { Change } from '../storage/backend.ts'
import type { ContentLabel } from './taint.ts'

/**
 * Names of files and directories that hold labelled content, such as that of `touch "$(cat key.txt)"`, with the label of that
 * content. Other names carry no label, wherever their files come from.
 */
export type ContentNames = Map<string, ContentLabel>

/** A shorter text is in most contents, and tells too little of them. */
const MIN_LENGTH = 4
/** Bounds of one search: names, and characters of content. */
const MAX_NAMES = 1000
const MAX_CHARACTERS = 1_000_000

/**
 * Finds the names that changes give, that the command itself does not spell, and that occur in what it has read.
 *
 * @param spelled the input of the call
 */
export function findContentNames(
  changes: readonly Change[],
  spelled: string,
  contents: Iterable<readonly [Path, { readonly shown: Uint8Array }]>,
  labelOf: (path: Path) => ContentLabel,
): ContentNames {
  const candidates = new Set<string>()
  for (const { path, to } of changes) {
    const name = nameOf(path)
    if (to === null || name.length < MIN_LENGTH || spelled.includes(name)) continue
    if (candidates.size < MAX_NAMES) candidates.add(name)
  }
  const names: ContentNames = new Map()
  if (candidates.size === 0) return names
  let characters = 0
  for (const [path, { shown }] of contents) {
    const content = labelOf(path)
    if (content.label === 'public') continue
    const text = new TextDecoder().decode(shown.subarray(0, MAX_CHARACTERS - characters))
    characters += text.length
    for (const name of candidates) if (!names.has(name) && text.includes(name)) names.set(name, content)
    if (characters >= MAX_CHARACTERS) break
  }
  return names
}

/** Returns the labels of the names that a value holds, anywhere in its text. */
export function contentNamesIn(value: unknown, names: ContentNames): readonly ContentLabel[] {
  if (names.size === 0) return []
  const text = JSON.stringify(value) ?? ''
  return [...names].filter(([name]) => text.includes(JSON.stringify(name).slice(1, -1))).map(([, content]) => content)
}
