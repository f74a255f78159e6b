import { useLayoutEffect, useRef } from 'preact/hooks'
import type { CodeMirror } from './codemirror.ts'

export interface DiffEditorProps {
  readonly codeMirror: CodeMirror
  readonly path: string
  readonly before: string
  readonly after: string
  readonly inline: boolean
  /** Names of the two sides. */
  readonly labels?: readonly [before: string, after: string]
  /** Makes the second side editable. */
  readonly onEdit?: (text: string) => void
}

/** Folds long runs of unchanged lines. */
const collapseUnchanged = { margin: 3, minSize: 6 }
/** Limits the time to compare large texts, at the cost of precision. */
const diffConfig = { scanLimit: 2_000, timeout: 500 }

/** Compares two texts, side by side or inline. */
export function DiffEditor({ codeMirror, path, before, after, inline, labels, onEdit }: DiffEditorProps) {
  const element = useRef<HTMLDivElement>(null)
  // Before the next key press, which an outdated text would take.
  useLayoutEffect(() => {
    const parent = element.current
    if (parent === null) return
    const { base, reading, writing } = codeMirror
    const { EditorState } = codeMirror.state
    const { EditorView } = codeMirror.view
    const { MergeView, unifiedMergeView } = codeMirror.merge
    const root = parent.getRootNode() as Document | ShadowRoot
    const [first = 'Before', second = 'After'] = labels ?? []
    const side = (label: string, isEditable: boolean) => [
      base(path, `${label}: ${path}`),
      isEditable ? writing() : reading(),
      EditorView.lineWrapping,
    ]
    const edits = EditorView.updateListener.of((update) => {
      if (update.docChanged) onEdit?.(update.state.sliceDoc())
    })
    if (inline) {
      const view = new EditorView({
        ...{ parent, root },
        state: EditorState.create({
          doc: after,
          extensions: [
            side(second, onEdit !== undefined),
            edits,
            unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged, diffConfig }),
          ],
        }),
      })
      return () => view.destroy()
    }
    const view = new MergeView({
      ...{ parent, root },
      a: { doc: before, extensions: side(first, false) },
      b: { doc: after, extensions: [side(second, onEdit !== undefined), edits] },
      ...(onEdit === undefined ? { collapseUnchanged } : { revertControls: 'a-to-b' as const }),
      diffConfig,
    })
    return () => view.destroy()
  }, [path, before, inline, onEdit === undefined ? after : undefined])
  return <div class={inline ? 'code' : 'code merge'} ref={element} />
}
