import type { ReadonlySignal } from '@preact/signals'
import type { FileChange } from '../../session/changes.ts'
import { isTouch } from '../../ui/touch.ts'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { FileIcon } from '../files/file-icon.tsx'

export interface ChangedFilesProps {
  readonly changed: ReadonlySignal<ReadonlyMap<string, FileChange['status']>>
  /** Path of the file whose change is shown. */
  readonly selected: ReadonlySignal<string | undefined>
  readonly onSelect: (path: string) => void
}

/** The files that differ from the project as it was first opened here. */
export function ChangedFiles({ changed, selected, onSelect }: ChangedFilesProps) {
  const files = [...changed.value].sort(([a], [b]) => (a < b ? -1 : 1))
  const at = files.findIndex(([path]) => path === selected.value)
  if (files.length === 0) {
    return (
      <div class="empty">
        <p>Each file that you or the agent changes appears here, with its difference.</p>
      </div>
    )
  }
  return (
    <VirtualList
      label="Changed files"
      name="changed"
      count={files.length}
      rowHeight={isTouch() ? 44 : 28}
      active={at}
      onActive={(row) => files[row] !== undefined && onSelect(files[row][0])}
      onOpen={(row) => files[row] !== undefined && onSelect(files[row][0])}
      row={(row) => {
        const [path = '', status = 'changed'] = files[row] ?? []
        const name = path.slice(path.lastIndexOf('/') + 1)
        const folder = path.slice(0, Math.max(0, path.length - name.length - 1))
        return (
          <>
            <FileIcon path={path} />
            <span class="cut grow" title={path}>
              {name} <span class="muted small">{folder}</span>
            </span>
            <span class={`tree-mark ${status}`} aria-hidden="true">
              {status === 'added' ? 'A' : status === 'deleted' ? 'D' : 'M'}
            </span>
            <span class="visually-hidden">, {status}</span>
          </>
        )
      }}
    />
  )
}
