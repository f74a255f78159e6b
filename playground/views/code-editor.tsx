import { EditorState } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { useEffect, useRef } from 'preact/hooks'
import { base, reading, writing } from '../ui/codemirror.ts'

export interface CodeEditorProps {
  readonly path: string
  readonly label: string
  readonly text: string
  readonly lineEnd?: string
  /** Reloads the text when it changes. */
  readonly loaded: number
  readonly readOnly?: boolean
  readonly onEdit?: (text: string) => void
  readonly onSave?: () => void
  /** The line to show, from 1. A new `at` shows it again. */
  readonly goTo?: { readonly line: number; readonly at: number } | undefined
}

/** Edits one text. */
export default function CodeEditor(props: CodeEditorProps) {
  const element = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  const { path, label, text, lineEnd = '\n', loaded, readOnly = false, goTo } = props

  useEffect(() => {
    const parent = element.current
    if (parent === null) return
    const top = view.current?.scrollDOM.scrollTop ?? 0
    view.current?.destroy()
    const state = EditorState.create({
      doc: text,
      extensions: [
        EditorState.lineSeparator.of(lineEnd),
        keymap.of([
          {
            key: 'Mod-s',
            run: () => {
              latest.current.onSave?.()
              return true
            },
          },
        ]),
        base(path, label),
        readOnly ? reading() : writing(),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) latest.current.onEdit?.(update.state.sliceDoc())
        }),
      ],
    })
    const created = new EditorView({ parent, state })
    created.scrollDOM.scrollTop = top
    view.current = created
    return () => {
      created.destroy()
      view.current = undefined
    }
  }, [path, loaded, readOnly])

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

  return <div class="code" ref={element} />
}
