import type { Compartment } from '@codemirror/state'
import type { EditorView } from '@codemirror/view'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { CodeMirror } from './codemirror.ts'

export interface CodeEditorProps {
  readonly codeMirror: CodeMirror
  readonly path: string
  readonly label: string
  readonly text: string
  /** Reloads the text when it changes. */
  readonly loaded: number
  readonly readOnly?: boolean
  /** The number of the first line. Default: 1. */
  readonly firstLine?: number
  /** Whether long lines wrap. */
  readonly wraps?: boolean | undefined
  readonly onEdit?: (text: string) => void
  readonly onSave?: () => void
  /** The line to show, from 1. A new `at` shows it again. */
  readonly goTo?: { readonly line: number; readonly at: number } | undefined
  /** A new number opens the panel to find and replace. */
  readonly find?: number | undefined
  /** Lines to mark and to scroll to, from 1, without taking the focus. */
  readonly lines?: readonly [first: number, last: number] | undefined
}

/** Where the extensions stand that are loaded or changed later. */
interface Places {
  readonly finding: Compartment
  readonly wrapping: Compartment
}

/** Marks lines and scrolls to the first one. Without lines, removes the marks. */
function markLines({ view, marks }: CodeMirror, editor: EditorView, lines: CodeEditorProps['lines']): void {
  const { Decoration, EditorView } = view
  if (lines === undefined) {
    editor.dispatch({ effects: marks.set.of(Decoration.none) })
    return
  }
  const { doc } = editor.state
  const first = Math.min(Math.max(1, lines[0]), doc.lines)
  const last = Math.min(Math.max(first, lines[1]), doc.lines)
  const ranges = Array.from({ length: last - first + 1 }, (_, at) => marks.line(doc.line(first + at).from))
  const top = EditorView.scrollIntoView(doc.line(first).from, { y: 'start', yMargin: 40 })
  editor.dispatch({ effects: [marks.set.of(Decoration.set(ranges)), top] })
}

/** Opens the panel to find and replace. Its code loads with the first use. */
function openFind(codeMirror: CodeMirror, editor: EditorView, { finding }: Places): boolean {
  void import('./find-panel.tsx').then(({ openFindPanel }) => openFindPanel(codeMirror, editor, finding))
  return true
}

function createState(props: CodeEditorProps, latest: Latest, places: Places) {
  const { path, label, text, readOnly, firstLine, codeMirror } = props
  const { EditorView, keymap } = codeMirror.view
  const { EditorState } = codeMirror.state
  const find = (editor: EditorView) => openFind(codeMirror, editor, places)
  const save = (): boolean => {
    latest.current.onSave?.()
    return true
  }
  return EditorState.create({
    doc: text,
    extensions: [
      EditorState.lineSeparator.of('\n'),
      places.finding.of([]),
      places.wrapping.of([]),
      keymap.of([
        { key: 'Mod-s', run: save },
        { key: 'Mod-f', run: find },
        { key: 'Mod-h', run: find, preventDefault: true },
      ]),
      codeMirror.base(path, label, firstLine),
      readOnly ? codeMirror.reading() : codeMirror.writing(),
      codeMirror.marks.extension,
      EditorView.updateListener.of((update) => {
        if (update.docChanged) latest.current.onEdit?.(update.state.sliceDoc())
      }),
    ],
  })
}

interface Latest {
  readonly current: CodeEditorProps
}

/** Edits one text. */
export function CodeEditor(props: CodeEditorProps) {
  const element = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  const { path, text, loaded, readOnly, wraps, goTo, find, lines, codeMirror } = props
  const { Compartment } = codeMirror.state
  const { EditorView } = codeMirror.view
  const places = useMemo(() => ({ finding: new Compartment(), wrapping: new Compartment() }), [])

  // Both run before the next key press, which an outdated text would take.
  useLayoutEffect(() => {
    const parent = element.current
    if (parent === null) return
    // Its styles belong where it is, not in the element whose slot shows it.
    view.current = new EditorView({ parent, root: parent.getRootNode() as Document | ShadowRoot })
    return () => view.current?.destroy()
  }, [])
  useLayoutEffect(() => {
    view.current?.setState(createState(props, latest, places))
  }, [path, readOnly])
  useLayoutEffect(() => {
    const editor = view.current
    if (editor === undefined || editor.state.sliceDoc() === text) return
    const { doc, selection } = editor.state
    // A change that Ctrl+Z takes back: the person may have typed the text before.
    editor.dispatch({
      changes: { from: 0, to: doc.length, insert: text },
      selection: { anchor: Math.min(selection.main.head, text.length) },
      userEvent: 'set',
    })
  }, [loaded])

  useLayoutEffect(() => {
    view.current?.dispatch({ effects: places.wrapping.reconfigure(wraps ? EditorView.lineWrapping : []) })
  }, [wraps, path, readOnly])

  const lastFind = useRef(find)
  useEffect(() => {
    if (view.current !== undefined && find !== lastFind.current) openFind(codeMirror, view.current, places)
    lastFind.current = find
  }, [find])

  useEffect(() => {
    const editor = view.current
    if (editor === undefined || goTo === undefined) return
    const line = editor.state.doc.line(Math.min(Math.max(1, goTo.line), editor.state.doc.lines))
    editor.dispatch({
      selection: { anchor: line.from },
      effects: EditorView.scrollIntoView(line.from, { y: 'center' }),
    })
    editor.focus()
  }, [goTo?.at, path])

  useEffect(() => {
    if (view.current !== undefined) markLines(codeMirror, view.current, lines)
  }, [lines?.[0], lines?.[1], path, loaded])

  return <div class="code" ref={element} />
}
