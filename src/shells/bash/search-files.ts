import { ToolError } from '../../errors.ts'
import { nameOf, type Path } from '../../paths/logical-path.ts'
import { yieldToEventLoop } from '../../util/timers.ts'
import type { CommandFiles } from '../types.ts'
import { needsEveryFile, parseSearch, type Search, type SearchName } from './search-options.ts'

/** A search below one path of the workspace. */
export interface SearchRequest {
  readonly name: SearchName
  readonly args: readonly string[]
  readonly path: string
}

/** The next files of a search, in order. */
export interface SearchBatch {
  readonly isDirectory: boolean
  readonly files: readonly SearchedFile[]
}

/** A file that may have a match, or is too large to be searched. */
export interface SearchedFile {
  /** Path below the start of the search. */
  readonly relative: string
  /** None if the search only lists the files. */
  readonly bytes?: Uint8Array
  readonly isTooLarge?: true
}

/** Opens a search. The batches are read one at a time, so that memory and each turn of the event loop stay bounded. */
export type OpenSearch = (request: SearchRequest) => AsyncIterator<SearchBatch, void>

/** Bytes of the files in one batch. One file may have more. */
const BATCH_BYTES = 4 * 1024 * 1024
const BATCH_FILES = 10_000

/** Longest turn of the event loop, in milliseconds. */
const TURN_MS = 25

/** Milliseconds after which a file counts as one that may match: the search itself runs where it can be ended. */
const FILE_MS = 50

/** The clock is read after this many bytes or files. */
const CHECK_BYTES = 256 * 1024
const CHECK_FILES = 64

/**
 * Finds the files of a search, in the thread that has the files. Decides quickly which files cannot match; lines are searched
 * by the caller.
 *
 * @throws ToolError if the start cannot be searched
 */
export function searchFiles(files: CommandFiles): OpenSearch {
  return async function* ({ name, args, path }) {
    const search = parseSearch(name, args)
    if (search === undefined) return
    const filters = { includeHidden: search.hidden, includeIgnored: search.ignored, showsAll: false }
    // First, because it asks about a file that only an approval shows.
    const paths = await files.walk(path, filters)
    const stat = await files.stat(path)
    if (stat === undefined && paths.length === 0) throw new ToolError('NOT_FOUND', 'It does not exist')
    const isDirectory = stat?.type === 'directory'
    const skip = isDirectory && stat.path !== '' ? stat.path.length + 1 : 0
    const relative = (one: Path) => one.slice(skip)
    const candidates = isDirectory ? paths.filter((one) => search.includes(relative(one), nameOf(one))) : paths
    for await (const batch of batches(files, candidates, search)) {
      files.noteShown(batch.map(({ path: one }) => one))
      yield { isDirectory, files: batch.map(({ path: one, ...file }) => ({ relative: relative(one), ...file })) }
      await yieldToEventLoop()
    }
  }
}

type BatchedFile = Omit<SearchedFile, 'relative'> & { readonly path: Path }

async function* batches(
  files: CommandFiles,
  paths: readonly Path[],
  search: Search,
): AsyncGenerator<readonly BatchedFile[], void> {
  const { query } = search
  if (query === undefined) {
    for (let at = 0; at < paths.length; at += BATCH_FILES) {
      yield paths.slice(at, at + BATCH_FILES).map((path) => ({ path }))
    }
    return
  }
  const searchesAll = needsEveryFile(search)
  for (let next = 0; next < paths.length; ) {
    const batch: BatchedFile[] = []
    const turnEnd = performance.now() + TURN_MS
    let [bytesLeft, sinceCheck, isFirst, isPaused] = [BATCH_BYTES, 0, true, false]
    const wants = (path: Path, bytes: Uint8Array): boolean | undefined => {
      sinceCheck += bytes.length + CHECK_BYTES / CHECK_FILES
      if (sinceCheck >= CHECK_BYTES) {
        sinceCheck = 0
        isPaused = !isFirst && performance.now() >= turnEnd
      }
      isPaused ||= bytesLeft <= 0
      if (isPaused) return undefined
      isFirst = false
      // The scan skips files that no longer exist, so the position in the list is found by path.
      while (next < paths.length && paths[next] !== path) next += 1
      next += 1
      const fileEnd = performance.now() + FILE_MS
      return searchesAll || query.mayMatch(bytes, () => performance.now() >= fileEnd)
    }
    const visit = (path: Path, bytes: Uint8Array): boolean => {
      // The bytes are valid only during the visit.
      batch.push({ path, bytes: bytes.slice() })
      bytesLeft -= bytes.length
      return true
    }
    const tooLarge = await files.scan(next === 0 ? paths : paths.slice(next), wants, visit)
    yield [...batch, ...tooLarge.map((path) => ({ path, isTooLarge: true }) as const)]
    if (!isPaused) return
  }
}
