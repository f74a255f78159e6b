import type { SearchQuery } from '@codemirror/search'
import type { Compartment, Extension } from '@codemirror/state'
import type { EditorView, ViewUpdate } from '@codemirror/view'
import { render } from 'preact'
import { useState } from 'preact/hooks'
import { IconButton } from '../parts/icon-button.tsx'
import type { CodeMirror } from './codemirror.ts'

/** Matches that are counted. More are shown as `1000+`. */
const MAX_COUNT = 1_000

/** Opens the panel that finds and replaces in an editor, and focuses its field. */
export function openFindPanel(codeMirror: CodeMirror, editor: EditorView, place: Compartment): void {
  const before = place.get(editor.state)
  if (Array.isArray(before) && before.length === 0) editor.dispatch({ effects: place.reconfigure(panelOf(codeMirror)) })
  codeMirror.search.openSearchPanel(editor)
  editor.dom.querySelector<HTMLInputElement>('.find-panel input')?.select()
}

function panelOf(codeMirror: CodeMirror): Extension {
  const { search, state, view } = codeMirror
  const createPanel = (editor: EditorView) => {
    const dom = document.createElement('div')
    const draw = () => render(<FindPanel codeMirror={codeMirror} editor={editor} />, dom)
    draw()
    return {
      dom,
      top: true,
      mount: () => dom.querySelector<HTMLInputElement>('input')?.select(),
      update: (update: ViewUpdate) => {
        const isNew = update.transactions.some(({ effects }) =>
          effects.some((effect) => effect.is(search.setSearchQuery)),
        )
        if (isNew || update.docChanged || update.selectionSet) draw()
      },
      destroy: () => render(null, dom),
    }
  }
  return [
    search.search({ top: true, createPanel }),
    state.Prec.high(
      view.keymap.of([
        { key: 'F3', run: search.findNext, shift: search.findPrevious },
        { key: 'Mod-g', run: search.findNext, shift: search.findPrevious },
      ]),
    ),
  ]
}

interface PanelProps {
  readonly codeMirror: CodeMirror
  readonly editor: EditorView
}

function FindPanel({ codeMirror, editor }: PanelProps) {
  const { closeSearchPanel, findNext, findPrevious, getSearchQuery, SearchQuery, setSearchQuery } = codeMirror.search
  const query = getSearchQuery(editor.state)
  const { readOnly } = editor.state
  const change = (fields: Partial<ConstructorParameters<typeof SearchQuery>[0]>) => {
    const { search, replace, caseSensitive, regexp, wholeWord } = query
    const next = new SearchQuery({ search, replace, caseSensitive, regexp, wholeWord, ...fields })
    editor.dispatch({ effects: setSearchQuery.of(next) })
  }
  const close = () => {
    closeSearchPanel(editor)
    editor.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Keys of the editor do not apply to the fields.
    event.stopPropagation()
    if (event.key === 'Escape') close()
    else if (event.key === 'F3') (event.shiftKey ? findPrevious : findNext)(editor)
    else return
    event.preventDefault()
  }
  const options = [
    ['caseSensitive', 'Match case', 'Aa'],
    ['wholeWord', 'Whole words', '“ab”'],
    ['regexp', 'Regular expression', '.*'],
  ] as const
  return (
    <search class="find-panel" aria-label="Find in this file" onKeyDown={onKeyDown}>
      <div class="row">
        <FindField
          label="Find"
          value={query.search}
          isWrong={!query.valid && query.search !== ''}
          onInput={(search) => change({ search })}
          onEnter={(isBack) => (isBack ? findPrevious : findNext)(editor)}
        />
        {options.map(([name, label, sign]) => (
          <button
            key={name}
            type="button"
            class="button quiet mono"
            aria-pressed={query[name]}
            aria-label={label}
            title={label}
            onClick={() => change({ [name]: !query[name] })}
          >
            <span data-text={sign} />
          </button>
        ))}
        <span class="muted number find-count" role="status">
          {countInWords(editor, query)}
        </span>
        <IconButton icon="up" label="Previous match" title="Shift Enter" onClick={() => findPrevious(editor)} />
        <IconButton icon="down" label="Next match" title="Enter" onClick={() => findNext(editor)} />
        <IconButton icon="close" label="Close find" title="Escape" onClick={close} />
      </div>
      {!readOnly && (
        <ReplaceRow
          codeMirror={codeMirror}
          editor={editor}
          query={query}
          onReplacement={(replace) => change({ replace })}
        />
      )}
    </search>
  )
}

interface ReplaceRowProps extends PanelProps {
  readonly query: SearchQuery
  readonly onReplacement: (text: string) => void
}

function ReplaceRow({ codeMirror, editor, query, onReplacement }: ReplaceRowProps) {
  const { replaceAll, replaceNext } = codeMirror.search
  const [replaced, setReplaced] = useState('')
  return (
    <div class="row">
      <FindField
        label="Replace with"
        value={query.replace}
        isWrong={false}
        onInput={onReplacement}
        onEnter={() => replaceNext(editor)}
      />
      <button type="button" class="button" disabled={!query.valid} onClick={() => replaceNext(editor)}>
        Replace
      </button>
      <button
        type="button"
        class="button"
        disabled={!query.valid}
        onClick={() => {
          const { count } = countMatches(editor, query)
          replaceAll(editor)
          setReplaced(`Replaced ${count} ${count === 1 ? 'match' : 'matches'}`)
        }}
      >
        Replace all
      </button>
      <span class="visually-hidden" aria-live="polite">
        {replaced}
      </span>
    </div>
  )
}

interface FindFieldProps {
  readonly label: string
  readonly value: string
  readonly isWrong: boolean
  readonly onInput: (text: string) => void
  readonly onEnter: (isShifted: boolean) => void
}

function FindField({ label, value, isWrong, onInput, onEnter }: FindFieldProps) {
  return (
    <input
      class="field mono grow"
      aria-label={label}
      aria-invalid={isWrong}
      placeholder={label}
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return
        event.preventDefault()
        onEnter(event.shiftKey)
      }}
    />
  )
}

/** Counts the matches, and finds which of them is selected. */
function countMatches({ state }: EditorView, query: SearchQuery): { readonly count: number; readonly current: number } {
  let count = 0
  let current = 0
  if (!query.valid) return { count, current }
  const { from, to } = state.selection.main
  const cursor = query.getCursor(state)
  for (let next = cursor.next(); !next.done && count <= MAX_COUNT; next = cursor.next()) {
    count += 1
    if (next.value.from === from && next.value.to === to) current = count
  }
  return { count, current }
}

function countInWords(editor: EditorView, query: SearchQuery): string {
  if (query.search === '') return ''
  if (!query.valid) return 'Not a pattern'
  const { count, current } = countMatches(editor, query)
  if (count === 0) return 'No match'
  return `${current === 0 ? '' : `${current} of `}${count > MAX_COUNT ? `${MAX_COUNT}+` : count}`
}
