import './search.css'
import { useSignal } from '@preact/signals'
import { VirtualList } from '../../../src/elements/parts/virtual-list.tsx'
import type { ProjectSession } from '../../session/project-session.ts'
import { summaryOf } from '../../session/search.ts'
import { lazyView } from '../../ui/lazy-view.tsx'

const ReplaceView = lazyView(async () => (await import('./replace-view.tsx')).ReplaceView)

export interface SearchViewProps {
  readonly projectSession: Pick<ProjectSession, 'search' | 'replacement' | 'session' | 'texts' | 'writable'>
  readonly onOpen: (path: string, line?: number) => void
}

/** Searches files and text while the person types. */
export function SearchView({ projectSession, onOpen }: SearchViewProps) {
  const { search } = projectSession
  const isReplacing = useSignal(false)
  const { query, files, hits, busy, cut, trouble } = search.state.value
  const active = useSignal(-1)
  const rows = [...files.map((path) => ({ path, line: undefined })), ...hits]
  const open = (at: number) => {
    const row = rows[at]
    if (row !== undefined) onOpen(row.path, row.line)
  }
  const ask = (change: Partial<typeof query>) => {
    active.value = -1
    search.ask({ ...query, ...change })
  }
  return (
    <div class="fill">
      <SearchField
        query={query}
        status={trouble ?? (query.text === '' ? '' : busy ? 'Searching…' : summaryOf(files.length, hits.length, cut))}
        isReplacing={isReplacing.value}
        onReplacing={(isOn) => {
          isReplacing.value = isOn
        }}
        onChange={ask}
      />
      {isReplacing.value && <ReplaceView projectSession={projectSession} query={query} onOpen={onOpen} />}
      {query.text === '' && !isReplacing.value && (
        <p class="empty">Type a part of a file name, or text that a file contains.</p>
      )}
      {rows.length > 0 && !isReplacing.value && (
        <VirtualList
          label="Search results"
          name="result"
          count={rows.length}
          rowHeight={44}
          active={active.value}
          onActive={(at) => {
            active.value = at
          }}
          onOpen={open}
          row={(at) => {
            const row = rows[at]
            if (row === undefined) return null
            return (
              <div class="grow">
                <div class="row">
                  <span class="cut grow">{row.path}</span>
                  <span class="muted number">{row.line ?? 'file'}</span>
                </div>
                <div class="muted mono cut">{'snippet' in row ? row.snippet.trim() : '\u00a0'}</div>
              </div>
            )
          }}
        />
      )}
    </div>
  )
}

type Query = ProjectSession['search']['state']['value']['query']

function SearchField({
  query,
  status,
  isReplacing,
  onReplacing,
  onChange,
}: {
  readonly query: Query
  readonly status: string
  readonly isReplacing: boolean
  readonly onReplacing: (isOn: boolean) => void
  readonly onChange: (change: Partial<Query>) => void
}) {
  return (
    <div class="search-field">
      <input
        id="search"
        class="field"
        type="search"
        aria-label="Search files and text"
        placeholder="Search files and text"
        autocomplete="off"
        spellcheck={false}
        value={query.text}
        onInput={({ currentTarget }) => onChange({ text: currentTarget.value })}
      />
      <div class="row">
        <button
          type="button"
          class="button quiet mono"
          aria-pressed={query.regex}
          title="Regular expression"
          aria-label="Regular expression"
          onClick={() => onChange({ regex: !query.regex })}
        >
          .*
        </button>
        <button
          type="button"
          class="button quiet"
          aria-pressed={query.caseSensitive}
          aria-label="Match case"
          title="Match case"
          onClick={() => onChange({ caseSensitive: !query.caseSensitive })}
        >
          Aa
        </button>
        <button
          type="button"
          class="button quiet"
          aria-expanded={isReplacing}
          onClick={() => onReplacing(!isReplacing)}
        >
          Replace
        </button>
        {!isReplacing && (
          <span class="muted grow cut" role="status">
            {status}
          </span>
        )}
      </div>
    </div>
  )
}
