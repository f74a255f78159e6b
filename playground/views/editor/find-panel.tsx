import {
  closeSearchPanel,
  findNext,
  findPrevious,
  getSearchQuery,
  openSearchPanel,
  replaceAll,
  replaceNext,
  SearchQuery,
  search,
  setSearchQuery,
} from '@codemirror/search'
import { type Compartment, type Extension, Prec } from '@codemirror/state'
import { type EditorView, keymap, type ViewUpdate } from '@codemirror/view'
import { render } from 'preact'
import { IconButton } from '../../../src/elements/parts/icon-button.tsx'
import { announce } from '../../ui/announce.tsx'

/** Matches that are counted. More are shown as `1000+`. */
const MAX_COUNT = 1_000

/** Opens the panel that finds and replaces in an editor, and focuses its field. */
export function openFindPanel(editor: EditorView, place: Compartment): void {
  const isReady = place.get(editor.state) === installed
  if (!isReady) editor.dispatch({ effects: place.reconfigure(installed) })
  openSearchPanel(editor)
  editor.dom.querySelector<HTMLInputElement>('.find-panel input')?.select()
}

function createPanel(editor: EditorView) {
  const dom = document.createElement('div')
  const draw = () => render(<FindPanel editor={editor} />, dom)
  draw()
  return {
    dom,
    top: true,
    mount: () => dom.querySelector<HTMLInputElement>('input')?.select(),
    update: (update: ViewUpdate) => {
      const isNew = update.transactions.some(({ effects }) => effects.some((effect) => effect.is(setSearchQuery)))
      if (isNew || update.docChanged || update.selectionSet) draw()
    },
    destroy: () => render(null, dom),
  }
}

const installed: Extension = [
  search({ top: true, createPanel }),
  Prec.high(
    keymap.of([
      { key: 'F3', run: findNext, shift: findPrevious },
      { key: 'Mod-g', run: findNext, shift: findPrevious },
    ]),
  ),
]

function FindPanel({ editor }: { readonly editor: EditorView }) {
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
            {sign}
          </button>
        ))}
        <span class="muted number find-count" role="status">
          {countInWords(editor, query)}
        </span>
        <IconButton icon="up" label="Previous match" title="Shift Enter" onClick={() => findPrevious(editor)} />
        <IconButton icon="down" label="Next match" title="Enter" onClick={() => findNext(editor)} />
        <IconButton icon="close" label="Close find" title="Escape" onClick={close} />
      </div>
      {!readOnly && <ReplaceRow editor={editor} query={query} onReplacement={(replace) => change({ replace })} />}
    </search>
  )
}

interface ReplaceRowProps {
  readonly editor: EditorView
  readonly query: SearchQuery
  readonly onReplacement: (text: string) => void
}

function ReplaceRow({ editor, query, onReplacement }: ReplaceRowProps) {
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
          announce(`Replaced ${count} ${count === 1 ? 'match' : 'matches'}`)
        }}
      >
        Replace all
      </button>
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
