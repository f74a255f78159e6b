import { compileGlob, compileGlobs } from '../../paths/glob.ts'
import { ancestorsOf, isWithin, type LogicalPath, type Path } from '../../paths/logical-path.ts'
import { spellingWarnings } from '../../paths/pattern-spelling.ts'
import { checkArgument, isListOf, isText, requireText } from '../../util/check-options.ts'
import { listedDirectory } from './list-tree.ts'
import { callNarrowed, limitOr, narrowInput } from './steps.ts'
import type { Steps } from './types.ts'

/** Result of {@link findEntries}. */
export interface FoundEntries {
  /** Logical paths, sorted. */
  readonly paths: readonly string[]
  /** Whether ignored files are left out, because with them there are too many. */
  readonly withoutIgnored: boolean
  /** Whether there are more matches. */
  readonly truncated: boolean
}

/** Maximum number of paths in one answer. */
const MAX_PATHS = 500

/**
 * Finds files, links and directories below a directory by a glob, with hidden and ignored ones. If those are too many, the
 * ignored ones are left out. Directories that contain no file are not found. `excluded` are globs: their matches are left
 * out, with everything below them.
 */
export function* findEntries(directory: string, pattern: string, excluded: readonly string[]): Steps<FoundEntries> {
  checkArgument('findEntries()', 'excluded', excluded, isListOf(isText))
  requireText('findEntries()', 'directory', directory)
  requireText('findEntries()', 'pattern', pattern)
  yield* noteSpelling(pattern, ...excluded)
  const included = compileGlobs([strictGlob(pattern)])
  const omitted = compileGlobs(excluded.map(strictGlob))
  const { maxResults, ...filters } = yield* narrowInput('find_files', {
    pattern,
    path: directory,
    maxResults: yield* limitOr('findResults', MAX_PATHS),
    includeHidden: true,
    includeIgnored: true,
  })
  let withoutIgnored = false
  let { base, files, truncated } = yield* findBelow(filters)
  if (truncated && filters.includeIgnored) {
    withoutIgnored = true
    ;({ base, files, truncated } = yield* findBelow({ ...filters, includeIgnored: false }))
  }
  const relative = (path: string) => (base === '' ? path : path.slice(base.length + 1))
  const matches = new Set<string>()
  for (const file of files) {
    for (const path of [file as Path, ...ancestorsOf(file as Path)]) {
      if (path !== base && isWithin(path, base) && included.matches(relative(path))) matches.add(path)
    }
  }
  const isExcluded = (path: string) =>
    [path as LogicalPath, ...ancestorsOf(path as LogicalPath)].some(
      (ancestor) => ancestor !== base && isWithin(ancestor, base) && omitted.matches(relative(ancestor)),
    )
  const paths = [...matches].filter((path) => !isExcluded(path)).sort()
  return { paths: paths.slice(0, maxResults), withoutIgnored, truncated: truncated || paths.length > maxResults }
}

/** Finds the files that match, or are below a directory that matches. `base` is the path of the directory without links. */
function* findBelow(input: {
  readonly pattern: string
  readonly path: string
  readonly includeHidden: boolean
  readonly includeIgnored: boolean
}): Steps<{ base: LogicalPath; files: readonly string[]; truncated: boolean }> {
  const { pattern, path: directory } = input
  const maxResults = MAX_PATHS * 2
  const direct = yield* callNarrowed('find_files', { ...input, maxResults })
  const inside = yield* callNarrowed('find_files', { ...input, pattern: `${pattern}/**`, maxResults })
  const files = [...direct.files, ...inside.files]
  const truncated = direct.truncated || inside.truncated
  const requested = (direct.path === '.' ? '' : direct.path) as LogicalPath
  if (files.every((file) => isWithin(file as Path, requested))) return { base: requested, files, truncated }
  // The requested path goes through a link.
  return {
    base: listedDirectory(
      yield* callNarrowed('list_directory', { path: directory, includeHidden: true, includeIgnored: true }),
    ),
    files,
    truncated,
  }
}

/** Adds a note for each glob that does not match what it seems to. For globs that no tool of the workspace gets. */
export function* noteSpelling(...globs: readonly (string | undefined)[]): Steps<void> {
  for (const note of spellingWarnings(...globs)) yield { note }
}

/**
 * Makes a glob without a slash match names at any depth, as in ripgrep.
 *
 * @throws ToolError `INVALID_PATTERN` that shows the glob as the caller wrote it
 */
export function globAtAnyDepth(glob: string): string {
  compileGlob(glob)
  return glob.includes('/') ? glob : `**/${glob}`
}

/** Returns the glob with a final `**` replaced, so that it matches at least one name. */
export function strictGlob(pattern: string): string {
  requireText('strictGlob()', 'pattern', pattern)
  return pattern.replace(/(^|\/)\*\*$/, '$1**/*')
}
