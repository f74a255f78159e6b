import { useMemo } from 'preact/hooks'
import type { FileRow } from 'wardspace/ui'
import { FileButtons } from '../../../src/elements/files/file-buttons.tsx'
import { createPathFacts } from '../../session/path-facts.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { announce } from '../../ui/announce.tsx'
import { WardspaceElement } from '../../ui/wardspace-element.tsx'

export interface TreeViewProps {
  readonly projectSession: Pick<ProjectSession, 'tree' | 'files' | 'changed' | 'session' | 'writable'>
  /** A new file is opened at its first line. */
  readonly onOpen: (path: string, line?: number) => void
}

/** The buttons above the tree. */
export function TreeActions({ projectSession: { tree, writable }, onOpen }: TreeViewProps) {
  return <FileButtons files={tree} canChange={writable.value} onOpen={onOpen} announce={announce} />
}

/** The files of the project, marked as changed or protected. */
export function TreeView({ projectSession, onOpen }: TreeViewProps) {
  const { tree, writable } = projectSession
  const marks = useMarks(projectSession)
  return (
    <WardspaceElement
      name="wardspace-files"
      properties={{ controller: tree, ownBar: true, disabled: !writable.value, marks }}
      events={{ 'wardspace-open-file': ({ detail }) => onOpen(detail.path, detail.line) }}
    />
  )
}

/** Returns a function that says what is known about a path. */
function useMarks({ changed, files, session, writable }: TreeViewProps['projectSession']) {
  const workspace = session.workspace.value
  const isWritable = writable.value
  const facts = useMemo(() => createPathFacts(workspace, isWritable), [workspace, isWritable])
  const revision = facts.revision.value
  const changes = changed.value
  const all = files.all.value
  return useMemo(() => {
    const drafts = new Set(all.flatMap(({ path, draft }) => (draft === undefined ? [] : [path])))
    return ({ path, type, isOpen }: FileRow) => ({
      ...facts.of(path, type, revision),
      status: changes.get(path),
      isChangedWithin: type === 'directory' && !isOpen && hasChangeBelow(changes, path),
      hasDraft: drafts.has(path),
    })
  }, [facts, revision, changes, all])
}

function hasChangeBelow(changed: ReadonlyMap<string, unknown>, directory: string): boolean {
  for (const path of changed.keys()) if (path.startsWith(`${directory}/`)) return true
  return false
}
