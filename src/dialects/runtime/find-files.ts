import { compileGlobs } from '../../paths/glob.ts'
import { ancestorsOf, isWithin, type LogicalPath, type Path } from '../../paths/logical-path.ts'
import { listAll, placeOf } from './list-tree.ts'
import { call } from './steps.ts'
import type { Steps } from './types.ts'

/** Paths that a pattern found. */
export interface Found {
  /** Logical paths, sorted. */
  readonly paths: readonly string[]
  /** With ignored files there were too many, and so they were left out. */
  readonly withoutIgnored: boolean
  /** There were too many even so. */
  readonly truncated: boolean
}

/** Paths in one answer. */
const MOST_PATHS = 500

/**
 * Files, links and directories below a directory that match a glob, hidden and ignored ones too; where those are too many,
 * without the ignored ones. Directories without any file are not found. `excluded` are globs, too: what they match is not looked into.
 */
export function* findEntries(directory: string, pattern: string, excluded: readonly string[]): Steps<Found> {
  const wanted = compileGlobs([strictGlob(pattern)])
  const unwanted = compileGlobs(excluded.map(strictGlob))
  const search = (includeIgnored: boolean) => findBelow(directory, pattern, includeIgnored)
  let withoutIgnored = false
  let { base, files, truncated } = yield* search(true)
  if (truncated) {
    withoutIgnored = true
    ;({ base, files, truncated } = yield* search(false))
  }
  const relative = (path: string) => (base === '' ? path : path.slice(base.length + 1))
  const found = new Set<string>()
  for (const file of files) {
    for (const path of [file as Path, ...ancestorsOf(file as Path)]) {
      if (path !== base && isWithin(path, base) && wanted.matches(relative(path))) found.add(path)
    }
  }
  const isExcluded = (path: string) =>
    [path as LogicalPath, ...ancestorsOf(path as LogicalPath)].some(
      (one) => one !== base && isWithin(one, base) && unwanted.matches(relative(one)),
    )
  const paths = [...found].filter((path) => !isExcluded(path)).sort()
  const most = paths.slice(0, MOST_PATHS)
  return { paths: most, withoutIgnored, truncated: truncated || most.length < paths.length }
}

/** The files that match, or that lie in a directory which does, and the true path of where they were looked for. */
function* findBelow(
  directory: string,
  pattern: string,
  includeIgnored: boolean,
): Steps<{ base: LogicalPath; files: readonly string[]; truncated: boolean }> {
  const how = { path: directory, maxResults: MOST_PATHS * 2, includeHidden: true, includeIgnored }
  const named = yield* call('find_files', { pattern, ...how })
  const inside = yield* call('find_files', { pattern: `${pattern}/**`, ...how })
  const files = [...named.files, ...inside.files]
  const truncated = named.truncated || inside.truncated
  const asked = (named.path === '.' ? '' : named.path) as LogicalPath
  if (files.every((file) => isWithin(file as Path, asked))) return { base: asked, files, truncated }
  // It was named through a link.
  return { base: placeOf(yield* listAll(directory)), files, truncated }
}

/** As a glob in which a final `**` stands for at least one name. */
export function strictGlob(pattern: string): string {
  return pattern.replace(/(^|\/)\*\*$/, '$1**/*')
}
