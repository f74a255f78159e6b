import { useEffect, useState } from 'preact/hooks'
import { type Changes, isViewed } from '../../ui/changes.ts'
import type { ChangedFile } from '../../ui/changes-source.ts'
import { FileIcon } from '../parts/file-icon.tsx'
import { Icon } from '../parts/icon.tsx'
import { useRowHeight } from '../parts/touch.ts'
import { VirtualList } from '../parts/virtual-list.tsx'

/** A row of the tree: a file, or a folder with changed files below it. */
interface ChangeRow {
  readonly path: string
  readonly name: string
  readonly depth: number
  readonly file: ChangedFile | undefined
}

/** The changed files as a tree. */
export function ChangedFiles({
  review,
  onSelect,
}: {
  readonly review: Changes
  readonly onSelect: (path: string) => void
}) {
  const { files, selected } = review.snapshot
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [folder, setFolder] = useState<string>()
  const rowHeight = useRowHeight()
  useEffect(() => void review.count(), [files])
  const rows = rowsOf(files, closed)
  const active = rows.findIndex(({ path }) => path === (folder ?? selected))
  const toggle = (path: string) => {
    const next = new Set(closed)
    if (!next.delete(path)) next.add(path)
    setClosed(next)
  }
  const move = (row: ChangeRow | undefined) => {
    setFolder(row?.file === undefined ? row?.path : undefined)
    if (row?.file !== undefined) onSelect(row.path)
  }
  return (
    <VirtualList
      label="Changed files"
      name="changed"
      role="tree"
      count={rows.length}
      rowHeight={rowHeight}
      active={active}
      onActive={(at) => move(rows[at])}
      onOpen={(at) => rows[at] !== undefined && rows[at].file === undefined && toggle(rows[at].path)}
      onKey={({ key }, at) => {
        const row = rows[at]
        if (row === undefined || row.file !== undefined) return false
        if ((key === 'ArrowLeft') === closed.has(row.path) || !key.startsWith('Arrow')) return false
        toggle(row.path)
        return true
      }}
      attributes={(at) => ({
        'aria-level': (rows[at]?.depth ?? 0) + 1,
        ...(rows[at]?.file === undefined ? { 'aria-expanded': !closed.has(rows[at]?.path ?? '') } : {}),
      })}
      row={(at) =>
        rows[at] !== undefined && (
          <ChangeRowContent row={rows[at]} review={review} isOpen={!closed.has(rows[at].path)} />
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
  readonly review: Changes
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
          <Count count={file} />
          {isViewed(review.snapshot, file) && (
            <span class="viewed-mark" role="img" aria-label="viewed">
              <Icon name="check" size={12} />
            </span>
          )}
          <span class={`tree-mark ${file.status}`} aria-hidden="true">
            {{ added: 'A', deleted: 'D', modified: 'M', renamed: 'R' }[file.status]}
          </span>
          <span class="visually-hidden">
            , {file.status === 'modified' ? 'changed' : file.status} {file.oldPath && `from ${file.oldPath}`}
          </span>
        </>
      )}
    </>
  )
}

/** The numbers of added and removed lines. */
export function Count({
  count: { insertions = 0, deletions = 0 },
}: {
  readonly count: Pick<ChangedFile, 'insertions' | 'deletions'>
}) {
  return (
    <span class="change-count number small">
      {insertions > 0 && (
        <>
          <span class="plus">+{insertions}</span>
          <span class="visually-hidden"> lines added </span>
        </>
      )}
      {deletions > 0 && (
        <>
          <span class="minus">−{deletions}</span>
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
