import { ToolError } from '../../errors.ts'
import { classifyPath } from '../../files/classify/index.ts'
import { sha256 } from '../../files/hash/sha256.ts'
import { clamp } from '../../limits.ts'
import { compileGlob } from '../../paths/glob.ts'
import { display, nameOf, notFound, type Path, quote } from '../../paths/logical-path.ts'
import { spellingWarnings } from '../../paths/pattern-spelling.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import { counted } from '../../util/counted.ts'
import type { BuiltinContext, BuiltinDraft } from '../builtin-tool.ts'
import { type ScanVisitor, scanInSlices } from './scan-in-slices.ts'
import type { FileCount, Match, SearchInput, SearchOutput, TruncatedReason } from './search-fields.ts'
import { createFileSearch, type FileSearch } from './search-file.ts'
import { relativeTo, targetOf } from './target.ts'

/** Searches the files that a call of `search_text` may see. */
export async function draftSearch(input: SearchInput, context: BuiltinContext): Promise<BuiltinDraft<SearchOutput>> {
  const access = targetOf(context)
  const { warnings } = context
  warnings.push(...spellingWarnings(input.includeGlob, input.excludeGlob))
  if (input.filesOnly && input.contextLines > 0) warnings.push('contextLines has no effect with filesOnly')
  const bounds = boundsOf(input, context)
  const collector = new MatchCollector(input, bounds, context)
  const candidates = await candidatesOf(input, access, context)
  const taintBefore = context.taint()
  const finished = await scanInSlices(context, candidates, collector)
  const label = context.taint()
  const { matches, files, filesSearched, filesSkipped } = collector
  const truncatedReason = collector.truncatedReason ?? (finished ? undefined : 'timeout')

  const total = input.filesOnly ? files.length : matches.length
  if (truncatedReason === 'timeout' && total === 0) {
    throw new ToolError(
      'SEARCH_TIMEOUT',
      `Search in ${quote(display(access.asked))} took longer than ${bounds.timeoutMs} ms`,
      { filesSearched, candidates: candidates.length },
    )
  }
  if (filesSkipped > 0) warnings.push(collector.skippedWarning())
  if (label !== taintBefore) warnings.push(`Searched files are ${label}: narrow path or globs`)
  if (total === 0 && candidates.length === 0) warnings.push('No file was searched: check path, globs and filters')
  return {
    summary: summaryOf(input.filesOnly, total, filesSearched, truncatedReason),
    result: () => ({
      path: display(access.asked),
      matches,
      ...(input.filesOnly ? { files } : {}),
      truncated: truncatedReason !== undefined,
      ...(truncatedReason === undefined ? {} : { truncatedReason }),
      filesSearched,
      filesSkipped,
    }),
  }
}

interface Bounds {
  readonly contextLines: number
  readonly maxMatches: number
  readonly maxFileBytes: number
  readonly timeoutMs: number
}

/** The bounds of the input, within the limits of the workspace. */
function boundsOf(input: SearchInput, { limits, warnings }: BuiltinContext): Bounds {
  return {
    contextLines: clamp('contextLines', input.contextLines, limits.searchContextLines, warnings),
    maxMatches: clamp('maxMatches', input.maxMatches ?? limits.searchMatches, limits.searchMatchesHard, warnings),
    maxFileBytes: clamp('maxFileBytes', input.maxFileBytes ?? limits.searchFileBytes, limits.textFileBytes, warnings),
    timeoutMs: clamp('timeoutMs', input.timeoutMs ?? limits.searchTimeoutMs, limits.searchTimeoutMsHard, warnings),
  }
}

/** Maximum number of skipped files that a warning names. */
const NAMED_SKIPPED = 5

/** Bytes of a result reserved for fields other than matches. */
const RESERVED_BYTES = 4096

/** Searches the files of one call and collects their matches until it reaches a bound. */
class MatchCollector implements ScanVisitor {
  readonly matches: Match[] = []
  readonly files: FileCount[] = []
  filesSearched = 0
  filesSkipped = 0
  readonly maxFileBytes: number
  truncatedReason: TruncatedReason | undefined
  readonly #input: SearchInput
  readonly #bounds: Bounds
  readonly #context: BuiltinContext
  readonly #search: FileSearch
  /** Read from the platform's clock, because an injected clock may stand still. */
  readonly #deadline: number
  /** The first files that were skipped. */
  readonly #skipped: Path[] = []
  /** Bytes of the result left for matches. */
  #remainingBytes: number

  constructor(input: SearchInput, bounds: Bounds, context: BuiltinContext) {
    this.#input = input
    this.#bounds = bounds
    this.maxFileBytes = bounds.maxFileBytes
    this.#context = context
    this.#deadline = performance.now() + bounds.timeoutMs
    this.#remainingBytes = context.limits.projectionBytes - RESERVED_BYTES
    this.#search = createFileSearch({
      input,
      contextLines: bounds.contextLines,
      snippetUnits: context.limits.searchSnippet,
      isLate: () => this.isLate(),
      immutableBytes: context.files.capabilities.authority === 'sole',
    })
  }

  isLate(): boolean {
    return this.remainingMs() <= 0
  }

  remainingMs(): number {
    return this.#deadline - performance.now()
  }

  wants(path: Path, bytes: Uint8Array, size: number): boolean | undefined {
    this.#context.addSearched(path)
    if (size > this.maxFileBytes) {
      this.filesSkipped += 1
      if (this.#skipped.length < NAMED_SKIPPED) this.#skipped.push(path)
      return false
    }
    this.filesSearched += 1
    return this.#search.mayMatch(bytes)
  }

  visit(path: Path, bytes: Uint8Array): boolean {
    if (this.isLate()) return this.#stop('timeout')
    return this.#input.filesOnly ? this.#count(path, bytes) : this.#find(path, bytes)
  }

  /** The warning that names the files that were not searched. */
  skippedWarning(): string {
    const more = this.filesSkipped - this.#skipped.length
    const names = `${this.#skipped.map(quote).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
    return `Not searched, because over maxFileBytes (${this.maxFileBytes}): ${names}`
  }

  #count(path: Path, bytes: Uint8Array): boolean {
    const count = this.#search.count(path, bytes)
    if (this.isLate()) return this.#stop('timeout')
    if (count === 0) return true
    if (this.files.length === this.#bounds.maxMatches) return this.#stop('maxMatches')
    this.files.push({ path, kind: classifyPath(path).kind, ...this.#hashOf(bytes), count })
    this.#context.files.noteRead(path, bytes.length)
    return true
  }

  #find(path: Path, bytes: Uint8Array): boolean {
    const { matches, truncated } = this.#search.find(path, bytes, this.#bounds.maxMatches - this.matches.length)
    if (matches.length > 0) this.#context.files.noteRead(path, bytes.length)
    const file = { path, kind: classifyPath(path).kind, ...(matches.length > 0 ? this.#hashOf(bytes) : {}) }
    for (const fileMatch of matches) {
      const result = { ...file, ...fileMatch }
      this.#remainingBytes -= weightOf(result)
      if (this.#remainingBytes < 0) return this.#stop('bytes')
      this.matches.push(result)
    }
    if (this.isLate()) return this.#stop('timeout')
    return truncated ? this.#stop('maxMatches') : true
  }

  #hashOf(bytes: Uint8Array): { sha256?: string } {
    return this.#input.hashes ? { sha256: sha256(bytes) } : {}
  }

  #stop(reason: TruncatedReason): false {
    this.truncatedReason = reason
    return false
  }
}

/** Returns the files that the walk shows and the globs accept. */
async function candidatesOf(
  input: SearchInput,
  { path }: GuardedAccess,
  { files }: BuiltinContext,
): Promise<readonly Path[]> {
  const options = { caseInsensitive: !files.capabilities.caseSensitive }
  const include = input.includeGlob === undefined ? undefined : compileGlob(input.includeGlob, options)
  const exclude = input.excludeGlob === undefined ? undefined : compileGlob(input.excludeGlob, options)
  const stat = await files.stat(path)
  if (stat === undefined) throw notFound(path)
  if (stat.type === 'other') throw new ToolError('PATH_REJECTED', `${quote(path)} is not a regular file`, { path })
  const visible = await files.candidates(path, input)
  const isWanted = (...names: readonly string[]) =>
    (include === undefined || names.some(include.matches)) && !(exclude !== undefined && names.some(exclude.matches))
  if (stat.type === 'file') return isWanted(nameOf(path), path) ? visible : []
  if (include === undefined && exclude === undefined) return visible
  const relative = relativeTo(path)
  return visible.filter((candidate) => isWanted(relative(candidate)))
}

/** Returns an upper estimate of the bytes of a match in JSON, as the limit on results counts them. */
function weightOf({ path, kind, snippet, before, after }: Match): number {
  let units = path.length + kind.length + snippet.length
  for (const line of before) units += line.length + 1
  for (const line of after) units += line.length + 1
  return units * 3 + 200
}

function summaryOf(
  filesOnly: boolean,
  total: number,
  filesSearched: number,
  reason: TruncatedReason | undefined,
): string {
  const found = filesOnly
    ? counted(total, 'file matches', 'files match')
    : counted(total, 'line matches', 'lines match')
  const more = reason === undefined ? '' : `, and there may be more (${reason})`
  return `${found} in ${counted(filesSearched, 'file')} searched${more}`
}
