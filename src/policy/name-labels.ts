import { ancestorsOf, display, GIT_DIRECTORY, isWithin, nameOf, type Path, parentOf } from '../paths/logical-path.ts'
import type { Change } from '../storage/backend.ts'
import { type ContentLabel, type FileLabels, isAbove } from './taint.ts'

/** The branches and tags of the repository. Nothing lists the names of other files of git. */
const REFS = `${GIT_DIRECTORY}/refs` as Path
const HEAD = `${GIT_DIRECTORY}/HEAD`

/** Texts of a result that quote paths. */
const quotingFields: ReadonlySet<string> = new Set(['summary', 'message', 'hint', 'warnings'])

/** A longer text is the content of a file or of an output, not a path. */
const MAX_PATH_LENGTH = 4096

/** Characters that continue a name. Variables and other expansions of a shell continue it as well. */
const NAME_BEFORE = /[\p{L}\p{M}\p{N}_.\-+~#%@)}\]*?`]$/u
const NAME_AFTER = /^[\p{L}\p{M}\p{N}_.\-+~#%@$*?`[{]/u

/**
 * Returns the highest label of the names in a path, with the directory that contains the labelled name.
 *
 * @param labels the labels of names, by the path of the entry that has the name
 */
export function nameLabelOf(path: string, labels: FileLabels): ContentLabel | undefined {
  if (labels.highest === undefined) return undefined
  let content: ContentLabel | undefined
  for (const at of [path as Path, ...ancestorsOf(path as Path)].sort((a, b) => a.length - b.length)) {
    const label = labels.of(at)
    if (isAbove(label, content?.label ?? 'public')) content = { label, path: display(parentOf(at)) }
  }
  return content
}

/** Returns the path whose last name a change makes. A symbolic `HEAD` names a branch. `undefined` for other files of git. */
export function namedPath({ path, to }: Pick<Change, 'path' | 'to'>): Path | undefined {
  if (!isWithin(path, GIT_DIRECTORY)) return path
  if (isWithin(path, REFS)) return path
  if (path !== HEAD || to?.type !== 'file') return undefined
  const branch = /^ref: (refs\/heads\/\S+)/.exec(new TextDecoder().decode(to.bytes))?.[1]
  return branch === undefined ? undefined : (`${GIT_DIRECTORY}/${branch}` as Path)
}

/**
 * Returns whether one of the texts contains a name as a whole word, so that the name is not made of what a command reads. The
 * root has no name: every text spells it.
 */
export function isSpelled(name: string, texts: readonly string[]): boolean {
  if (name === '') return true
  return texts.some((text) => {
    for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
      if (!NAME_BEFORE.test(text.slice(0, at).slice(-2)) && !NAME_AFTER.test(text.slice(at + name.length))) return true
    }
    return false
  })
}

/** Returns whether two paths have the same last name. */
export function hasSameName(a: Path, b: Path): boolean {
  return nameOf(a) === nameOf(b)
}

/** Returns the texts of a result that can be paths, and the names that its sentences quote. */
export function* shownPaths(value: unknown, field = ''): Iterable<string> {
  if (typeof value === 'string') {
    if (value.length > MAX_PATH_LENGTH) return
    yield value.endsWith('/') ? value.slice(0, -1) : value
    if (!quotingFields.has(field)) return
    for (const [, quoted = ''] of value.matchAll(/"([^"]*)"/g)) {
      yield quoted.replace(/\\u\{([0-9a-f]+)\}/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    }
  } else if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    for (const [key, each] of Object.entries(value)) yield* shownPaths(each, Array.isArray(value) ? field : key)
  }
}
