import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { VirtualList } from '../../../src/elements/parts/virtual-list.tsx'
import type { ChangedFile } from '../../session/changes.ts'
import type { ChangesReview, FileCount } from '../../session/changes-review.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { isTouch } from '../../ui/touch.ts'
import { FileIcon } from '../files/file-icon.tsx'
import './changes.css'
import { useReview } from './use-review.ts'

export interface ChangedFilesProps {
  readonly projectSession: Pick<ProjectSession, 'review'>
  /** Path of the file whose change is shown. */
  readonly selected: ReadonlySignal<string | undefined>
  readonly onSelect: (path: string) => void
}

/** The files that differ from the project as it was first opened here, as a tree. */
export function ChangedFiles({ projectSession, selected, onSelect }: ChangedFilesProps) {
  const review = useReview(projectSession)
  if (review === undefined) return <div class="skeleton" />
  if (review.files.value.length === 0) {
    return (
      <div class="empty">
        <p>Each file that you or the agent changes appears here, with its difference.</p>
      </div>
    )
  }
  return <ChangeTree review={review} selected={selected} onSelect={onSelect} />
}

/** A row of the tree: a file, or a folder with changed files below it. */
interface ChangeRow {
  readonly path: string
  readonly name: string
  readonly depth: number
  readonly file: ChangedFile | undefined
}

function ChangeTree({
  review,
  selected,
  onSelect,
}: Pick<ChangedFilesProps, 'selected' | 'onSelect'> & { readonly review: ChangesReview }) {
  const files = review.files.value
  const closed = useSignal<ReadonlySet<string>>(new Set())
  const folder = useSignal<string | undefined>(undefined)
  useEffect(() => void review.count(), [files])
  const rows = rowsOf(files, closed.value)
  const active = rows.findIndex(({ path }) => path === (folder.value ?? selected.value))
  const toggle = (path: string) => {
    const next = new Set(closed.value)
    if (!next.delete(path)) next.add(path)
    closed.value = next
  }
  const move = (row: ChangeRow | undefined) => {
    folder.value = row?.file === undefined ? row?.path : undefined
    if (row?.file !== undefined) onSelect(row.path)
  }
  return (
    <VirtualList
      label="Changed files"
      name="changed"
      role="tree"
      count={rows.length}
      rowHeight={isTouch() ? 44 : 28}
      active={active}
      onActive={(at) => move(rows[at])}
      onOpen={(at) => rows[at] !== undefined && rows[at].file === undefined && toggle(rows[at].path)}
      onKey={({ key }, at) => {
        const row = rows[at]
        if (row === undefined || row.file !== undefined) return false
        if ((key === 'ArrowLeft') === closed.value.has(row.path) || !key.startsWith('Arrow')) return false
        toggle(row.path)
        return true
      }}
      attributes={(at) => ({
        'aria-level': (rows[at]?.depth ?? 0) + 1,
        ...(rows[at]?.file === undefined ? { 'aria-expanded': !closed.value.has(rows[at]?.path ?? '') } : {}),
      })}
      row={(at) =>
        rows[at] !== undefined && (
          <ChangeRowContent row={rows[at]} review={review} isOpen={!closed.value.has(rows[at].path)} />
        )
      }
    />
  )
}

function ChangeRowContent({
  row: { path, name, depth, file },
  review,
  isOpen,
}: {
  readonly row: ChangeRow
  readonly review: ChangesReview
  readonly isOpen: boolean
}) {
  return (
    <>
      <span style={{ width: `${depth * 12}px` }} />
      {file === undefined ? (
        <>
          <span class={`change-folder ${isOpen ? 'open' : ''}`}>
            <Icon name="chevron" size={12} />
          </span>
          <span class="cut grow muted">{name}</span>
        </>
      ) : (
        <>
          <FileIcon path={path} />
          <span class="cut grow" title={path}>
            {name}
          </span>
          <Count count={review.counts.value.get(path)} />
          {review.isViewed(file) && (
            <span class="viewed-mark" role="img" aria-label="viewed">
              <Icon name="check" size={12} />
            </span>
          )}
          <span class={`tree-mark ${file.status === 'renamed' ? 'changed' : file.status}`} aria-hidden="true">
            {{ added: 'A', deleted: 'D', changed: 'M', renamed: 'R' }[file.status]}
          </span>
          <span class="visually-hidden">
            , {file.status} {file.from === undefined ? '' : `from ${file.from}`}
          </span>
        </>
      )}
    </>
  )
}

/** The numbers of added and removed lines. */
export function Count({ count }: { readonly count: FileCount | undefined }) {
  if (count === undefined || typeof count === 'string') return null
  const { added, removed } = count
  return (
    <span class="change-count number small">
      {added > 0 && (
        <>
          <span class="plus">+{added}</span>
          <span class="visually-hidden"> lines added </span>
        </>
      )}
      {removed > 0 && (
        <>
          <span class="minus">−{removed}</span>
          <span class="visually-hidden"> lines removed </span>
        </>
      )}
    </span>
  )
}

/** Returns the rows of the tree. Folders with one folder only share its row. */
function rowsOf(files: readonly ChangedFile[], closed: ReadonlySet<string>): readonly ChangeRow[] {
  const rows: ChangeRow[] = []
  const add = (inside: readonly ChangedFile[], prefix: string, depth: number) => {
    const folders = new Map<string, ChangedFile[]>()
    const direct: ChangedFile[] = []
    for (const file of inside) {
      const slash = file.path.indexOf('/', prefix.length)
      if (slash === -1) direct.push(file)
      else {
        const folder = file.path.slice(0, slash)
        folders.set(folder, [...(folders.get(folder) ?? []), file])
      }
    }
    for (const [path, below] of folders) {
      rows.push({ path: `${path}/`, name: path.slice(prefix.length), depth, file: undefined })
      if (!closed.has(`${path}/`)) add(below, `${path}/`, depth + 1)
    }
    for (const file of direct) rows.push({ path: file.path, name: file.path.slice(prefix.length), depth, file })
  }
  add(files, '', 0)
  return rows
}
