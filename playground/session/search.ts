import { type ReadonlySignal, signal } from '@preact/signals'
import type { Failure, Success } from 'wardspace'
import { counted } from '../../src/util/counted.ts'

/** A search query. */
export interface SearchQuery {
  readonly text: string
  readonly regex: boolean
  readonly caseSensitive: boolean
}

export interface SearchHit {
  readonly path: string
  readonly line: number
  readonly column: number
  readonly snippet: string
}

export interface SearchState {
  readonly query: SearchQuery
  readonly busy: boolean
  readonly files: readonly string[]
  readonly hits: readonly SearchHit[]
  /** Whether there are more matches than listed. */
  readonly cut: boolean
  readonly trouble: string | undefined
}

/** Search while typing. A new query cancels the previous one. */
export interface Search {
  readonly state: ReadonlySignal<SearchState>
  ask(query: SearchQuery): void
}

type Look = (tool: string, input: unknown, options: { readonly signal: AbortSignal }) => Promise<Success | Failure>

const nothing: SearchState = {
  query: { text: '', regex: false, caseSensitive: false },
  busy: false,
  files: [],
  hits: [],
  cut: false,
  trouble: undefined,
}

/** Milliseconds to wait for the next key before searching. */
const PAUSE = 60

export function createSearch(look: Look): Search {
  const state = signal(nothing)
  let stop = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined

  async function run(query: SearchQuery, signal: AbortSignal): Promise<void> {
    const { text, regex, caseSensitive } = query
    const input = { query: text, mode: regex ? 'regex' : 'literal', caseSensitive, maxMatches: 200 }
    const [matches, files] = await Promise.all([
      look('search_text', input, { signal }),
      regex ? undefined : look('find_files', { pattern: `**/*${escaped(text)}*`, maxResults: 20 }, { signal }),
    ])
    if (signal.aborted) return
    state.value = {
      query,
      busy: false,
      files: files?.ok === true ? ((files.files as readonly string[] | undefined) ?? []) : [],
      hits: matches.ok ? (matches.matches as readonly SearchHit[]) : [],
      cut: matches.ok && matches.truncated === true,
      trouble: matches.ok ? undefined : matches.message,
    }
  }

  return {
    state,
    ask(query) {
      stop.abort()
      clearTimeout(timer)
      if (query.text === '') {
        state.value = { ...nothing, query }
        return
      }
      stop = new AbortController()
      const { signal } = stop
      state.value = { ...state.value, query, busy: true }
      timer = setTimeout(() => void run(query, signal), PAUSE)
    },
  }
}

/** Escapes a text for use in a glob. */
function escaped(text: string): string {
  return text.replace(/[\\*?[\]{}!()]/g, '\\$&')
}

/** Says how much a search has found: names of files and lines of their text. */
export function summaryOf(names: number, lines: number, isCut: boolean): string {
  const parts = [
    ...(names > 0 ? [counted(names, 'file name')] : []),
    ...(lines > 0 ? [`${isCut ? 'the first ' : ''}${counted(lines, 'line')}`] : []),
  ]
  return parts.join(', ') || 'Nothing found'
}
