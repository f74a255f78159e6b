import '../../../src/elements/code/code.css'
import { CodeEditor, type CodeEditorProps } from '../../../src/elements/code/code-editor.tsx'
import { type CodeMirror, loadCodeMirror } from '../../../src/elements/code/codemirror.ts'
import { DiffEditor, type DiffEditorProps } from '../../../src/elements/code/diff-editor.tsx'
import { lazyView } from '../../ui/lazy-view.tsx'

export type CodeTextProps = Omit<CodeEditorProps, 'codeMirror'>

/** A text with colours, outside of the editor of files. */
export const CodeText = lazyView<CodeTextProps>(async () => {
  const codeMirror = await load()
  return (props) => <CodeEditor {...props} codeMirror={codeMirror} />
})

/** A difference with colours, outside of the editor of files. */
export const CodeDiff = lazyView<Omit<DiffEditorProps, 'codeMirror'>>(async () => {
  const codeMirror = await load()
  return (props) => <DiffEditor {...props} codeMirror={codeMirror} />
})

async function load(): Promise<CodeMirror> {
  const codeMirror = await loadCodeMirror()
  if (codeMirror === undefined) throw new Error('CodeMirror could not be loaded')
  return codeMirror
}
