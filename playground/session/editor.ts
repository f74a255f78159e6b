import { computed, effect, type ReadonlySignal, untracked } from '@preact/signals'
import type { WorkspaceHistory } from 'wardspace'
import type { Editor, EditorSnapshot } from 'wardspace/ui'
import { canSave } from '../../src/ui/editor.ts'
import type { OpenFile, OpenFiles } from './open-files.ts'
import { AGENT_RUNS, PERSON_RUNS } from './open-workspace.ts'
import type { FileText } from './text.ts'

/** The file whose tab is in front. */
export function activeFile({ all, active }: OpenFiles): OpenFile | undefined {
  return all.value.find(({ path, isOpen }) => isOpen && path === active.value)
}

/** The file in front as the editor shows it. */
export function editorOf(files: OpenFiles, writable: ReadonlySignal<boolean>, history: () => WorkspaceHistory): Editor {
  const state = computed<EditorSnapshot>(() => {
    const file = activeFile(files)
    return {
      path: file?.path,
      text: file === undefined ? '' : shown(textOf(file), lineEndOf(file)),
      isLoading: false,
      isSaving: false,
      isChanged: file?.draft !== undefined,
      readOnly: writable.value ? undefined : 'another tab has the project. Take it over to save.',
      conflict: file?.theirs && shown(file.theirs.text?.text ?? '', file.theirs.text?.lineEnd),
      isDeleted: file?.theirs !== undefined && file.theirs.sha256 === undefined,
      conflictCause: file && untracked(() => conflictCauseOf(file, history())),
      trouble: file?.trouble,
      drafts: files.all.value.flatMap(({ path, draft }) => (draft === undefined ? [] : [path])),
    }
  })
  const act = async (action: (file: OpenFile) => Promise<void>) => {
    const file = untracked(() => activeFile(files))
    if (file !== undefined) await action(file)
  }
  return {
    get snapshot() {
      return state.peek()
    },
    subscribe: (listener) =>
      effect(() => {
        const snapshot = state.value
        untracked(() => listener(snapshot))
      }),
    open: files.open.bind(files),
    edit: (text) =>
      void act(async (file) =>
        files.edit(file.path, lineEndOf(file) === '\r\n' ? text.replaceAll('\n', '\r\n') : text),
      ),
    save: () => act(async ({ path }) => (canSave(state.peek()) ? files.save(path) : undefined)),
    resolve: (text) =>
      void act((file) => (text === 'own' ? files.settle(file.path, textOf(file)) : files.revert(file.path))),
    discard: () => act(({ path }) => files.revert(path)),
    close: () => {},
  }
}

/** Says what has happened to the file of a conflict, and by whom. */
function conflictCauseOf({ path, sha256, theirs }: OpenFile, { entries }: WorkspaceHistory): string | undefined {
  if (theirs === undefined) return undefined
  const entry = entries.findLast(({ changes }) => changes?.some((change) => change.path === path))
  const became = entry?.changes?.findLast((change) => change.path === path)?.became
  const isKept = entry !== undefined && theirs.sha256 === (became?.type === 'file' ? became.sha256 : undefined)
  const act = theirs.sha256 === undefined ? 'deleted' : sha256 === undefined ? 'created' : 'changed'
  return `has been ${act} by ${isKept ? authorInWords(entry.runId) : 'another tab or program'}`
}

function authorInWords(runId: string): string {
  if (runId.startsWith(AGENT_RUNS)) return 'the agent'
  return runId.startsWith(PERSON_RUNS) ? 'a command or action of yours' : 'the agent of the browser'
}

function textOf({ draft, base }: OpenFile): string {
  return draft ?? base?.text ?? ''
}

/** How the lines of the person's text end: as in the file that it was begun with or, if that is not known, in the present one. */
function lineEndOf({ base, theirs }: OpenFile): FileText['lineEnd'] | undefined {
  return (base ?? theirs?.text)?.lineEnd
}

/** The text as the editor has it, with `\n` at the end of lines. */
function shown(text: string, lineEnd: FileText['lineEnd'] | undefined): string {
  return lineEnd === '\r\n' ? text.replaceAll('\r\n', '\n') : text
}
