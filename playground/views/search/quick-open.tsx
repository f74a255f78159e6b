import './search.css'
import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { FileIcon } from '../../../src/elements/parts/file-icon.tsx'
import { restoreFocus } from '../../../src/elements/parts/focusable.ts'
import { counted } from '../../../src/util/counted.ts'
import { createFileFinder } from '../../session/file-finder.ts'
import type { FuzzyMatch } from '../../session/fuzzy.ts'
import type { ProjectSession } from '../../session/project-session.ts'

export interface QuickOpenProps {
  readonly projectSession: Pick<ProjectSession, 'project' | 'files'>
  readonly onOpen: (path: string, line?: number) => void
  readonly onClose: () => void
}

/** A field that finds a file by some of its characters. `name:12` opens line 12. */
export function QuickOpen({ projectSession, onOpen, onClose }: QuickOpenProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const active = useSignal(0)
  const line = useSignal<number | undefined>(undefined)
  const { project, files } = projectSession
  const finder = useMemo(() => createFileFinder(project.backend, () => files.all.peek().map(({ path }) => path)), [])
  const matches = finder.matches.value
  useEffect(() => {
    const before = document.activeElement
    const element = dialog.current
    element?.showModal()
    void finder.ask('')
    return () => restoreFocus(before, element)
  }, [])
  const isClosed = useRef(false)
  const close = () => {
    if (isClosed.current) return
    isClosed.current = true
    dialog.current?.close()
    onClose()
  }
  const open = (at: number) => {
    const match = matches[at]
    if (match === undefined) return
    close()
    onOpen(match.path, line.value)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }
    const move = step[event.key]
    if (move !== undefined) active.value = Math.max(0, Math.min(matches.length - 1, active.value + move))
    else if (event.key === 'Enter') open(active.value)
    else return
    event.preventDefault()
    // The file that it opens takes the focus.
    event.stopPropagation()
  }
  // The event of closing comes later, when the person may have pressed the next key.
  const onCancel = (event: Event) => {
    event.preventDefault()
    close()
  }
  const onInput = (text: string) => {
    const [, query = '', number] = /^(.*?)(?::(\d*))?$/.exec(text) ?? []
    line.value = number === undefined || number === '' ? undefined : Number(number)
    active.value = 0
    void finder.ask(query)
  }
  return (
    <dialog ref={dialog} class="quick-open" aria-label="Go to file" onCancel={onCancel} onClose={close}>
      <input
        class="field"
        role="combobox"
        aria-label="Name of a file"
        aria-expanded={true}
        aria-controls="quick-open-files"
        aria-activedescendant={matches.length === 0 ? undefined : `quick-open-${active.value}`}
        placeholder="Go to file: some letters of its name, and :12 for line 12"
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <Matches matches={matches} active={active.value} onOpen={open} />
      <p class="visually-hidden" role="status">
        {finder.isBusy.value ? '' : counted(matches.length, 'file')}
      </p>
      {matches.length === 0 && !finder.isBusy.value && <p class="muted pad">No file has these letters in its path.</p>}
    </dialog>
  )
}

interface MatchesProps {
  readonly matches: readonly FuzzyMatch[]
  readonly active: number
  readonly onOpen: (at: number) => void
}

function Matches({ matches, active, onOpen }: MatchesProps) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: 'nearest' }), [active, matches])
  return (
    <div ref={list} id="quick-open-files" class="quick-open-files" role="listbox" aria-label="Files">
      {matches.map((match, at) => (
        <button
          type="button"
          tabIndex={-1}
          key={match.path}
          id={`quick-open-${at}`}
          role="option"
          aria-selected={at === active}
          onClick={() => onOpen(at)}
        >
          <FileIcon path={match.path} />
          <MatchedPath match={match} />
        </button>
      ))}
    </div>
  )
}

/** The name of a file and its directory, with the typed characters marked. */
function MatchedPath({ match: { path, at } }: { readonly match: FuzzyMatch }) {
  const marked = new Set(at)
  const nameStart = path.lastIndexOf('/') + 1
  const characters = (from: number, to: number) =>
    [...path.slice(from, to)].map((character, index) =>
      marked.has(from + index) ? <mark key={from + index}>{character}</mark> : character,
    )
  return (
    <>
      <span class="file-name">{characters(nameStart, path.length)}</span>{' '}
      <span class="muted cut grow">{characters(0, Math.max(0, nameStart - 1))}</span>
    </>
  )
}
