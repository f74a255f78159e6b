import { type ReadonlySignal, signal } from '@preact/signals'
import type { Failure, Success } from 'wardspace'

/** What was asked, of all that is typed. */
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
  /** More than is shown. */
  readonly cut: boolean
  readonly trouble: string | undefined
}

/** A search that follows what is typed: a new one ends the one before it. */
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

/** Milliseconds between keys that are one word. */
const PAUSE = 60

export function createSearch(look: Look): Search {
  const state = signal(nothing)
  let stop = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined

  async function run(query: SearchQuery, signal: AbortSignal): Promise<void> {
    const { text, regex, caseSensitive } = query
    const input = { query: text, mode: regex ? 'regex' : 'literal', caseSensitive, maxMatches: 200 }
    const [found, named] = await Promise.all([
      look('search_text', input, { signal }),
      regex ? undefined : look('find_files', { pattern: `**/*${escaped(text)}*`, maxResults: 20 }, { signal }),
    ])
    if (signal.aborted) return
    const files = named?.ok === true ? (named.files as readonly string[] | undefined) : undefined
    state.value = {
      query,
      busy: false,
      files: files ?? [],
      hits: found.ok ? (found.matches as readonly SearchHit[]) : [],
      cut: found.ok && found.truncated === true,
      trouble: found.ok ? undefined : found.message,
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

/** Text that stands for itself in a glob. */
function escaped(text: string): string {
  return text.replace(/[\\*?[\]{}!()]/g, '\\$&')
}
