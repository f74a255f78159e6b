import { useRef, useState } from 'preact/hooks'
import { directoryOf, joinPath } from '../../ui/file-paths.ts'
import type { Files } from '../../ui/files.ts'
import type { FileRow, Naming } from '../../ui/files-state.ts'
import type { ViewContext } from '../define-element.ts'
import { Menu, type MenuPlace } from '../parts/menu.tsx'
import { useRowHeight } from '../parts/touch.ts'
import { useSnapshot } from '../parts/use-snapshot.ts'
import { VirtualList } from '../parts/virtual-list.tsx'
import type { FilesProperties } from '../properties.ts'
import { FileButtons } from './file-buttons.tsx'
import { FileNotice } from './file-notice.tsx'
import styles from './files.css?inline'
import { beginNew, type FileCommandParts, menuOf, takeKey } from './files-menu.ts'
import { NameField } from './name-field.tsx'
import { TreeEntry, TreeIcon, TreeIndent } from './tree-entry.tsx'
import { useDrag } from './use-drag.ts'

export { styles }

/** The row of an entry that has no name yet. */
interface NewRow {
  readonly path: undefined
  readonly kind: 'file' | 'directory'
  readonly parent: string
  readonly depth: number
}

/** The files as a tree, with what a person does to them. */
export function View(properties: FilesProperties & ViewContext) {
  const { controller: files, disabled = false, ownBar = false, dispatch } = properties
  const { rows, isLoading, trouble } = useSnapshot(files)
  const [announcement, announce] = useState('')
  const onOpen = (path: string, line?: number) => dispatch('wardspace-open-file', { path, line })
  const parts: FileCommandParts = { files, canChange: !disabled, onOpen, announce }
  return (
    <div class="fill" aria-busy={isLoading}>
      {!ownBar && (
        <div class="bar">
          <span class="grow" />
          <FileButtons {...parts} />
        </div>
      )}
      {trouble !== undefined && <p class="notice warn">{trouble}</p>}
      {rows.length === 0 && !isLoading && trouble === undefined && <NoFiles {...parts} />}
      <Tree {...properties} parts={parts} />
      <FileNotice {...parts} />
      <div class="visually-hidden" role="status">
        {announcement}
      </div>
    </div>
  )
}

function Tree({ selected: shown, marks, parts }: FilesProperties & { readonly parts: FileCommandParts }) {
  const { files, onOpen } = parts
  const { rows: entries, naming, selected, clipboard } = files.snapshot
  const view = useRef<HTMLDivElement>(null)
  const rowHeight = useRowHeight()
  const drag = useDrag(files, parts.canChange)
  const menu = useContextMenu(parts)
  const rows = withNewRow(entries, naming)
  const at = selected === undefined ? -1 : rows.findIndex(({ path }) => path === selected)
  const existing = (index: number): FileRow | undefined => {
    const row = rows[index]
    return row?.path === undefined ? undefined : row
  }
  const openOrToggle = (row: FileRow | undefined) => {
    if (row?.type === 'directory') void files.toggle(row.path)
    else if (row !== undefined) onOpen(row.path)
  }
  const onKey = (event: KeyboardEvent, index: number): boolean => {
    const row = existing(index)
    if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
      menu.open(row, view.current?.querySelector<HTMLElement>('[data-active]') ?? { x: 80, y: 120 })
    } else if (event.key === ' ') openOrToggle(row)
    else return takeArrow(event, row, files, existing(index + 1)) || takeKey(parts, event, row)
    return true
  }
  const renderRow = (index: number) => {
    const row = rows[index]
    if (row === undefined) return null
    if (row.path === undefined || (naming?.kind === 'rename' && naming.path === row.path)) {
      const onEnd = () => view.current?.querySelector<HTMLElement>('[role="tree"]')?.focus()
      return <NamedRow row={row} files={files} onEnd={onEnd} onOpen={onOpen} />
    }
    const isCut = clipboard?.isCut === true && clipboard.path === row.path
    return <TreeEntry row={row} marks={marks?.(row)} isCut={isCut} menu={menuOf(parts, row)} />
  }
  return (
    <div class="fill" ref={view} hidden={rows.length === 0}>
      <VirtualList
        label="Files"
        role="tree"
        name="file"
        count={rows.length}
        rowHeight={rowHeight}
        active={at}
        onActive={(index) => files.select(existing(index)?.path ?? selected ?? '')}
        onOpen={(index) => openOrToggle(existing(index))}
        onKey={onKey}
        onModifiedKey={(event, index) => takeKey(parts, event, existing(index))}
        listAttributes={{ ...drag.list, onContextMenu: menu.onContextMenu(undefined) }}
        attributes={(index) => {
          const row = existing(index)
          if (row === undefined) return { 'aria-level': (rows[index]?.depth ?? 0) + 1 }
          const isShown = row.path === shown
          return { ...ariaOf(row, isShown), onContextMenu: menu.onContextMenu(row), ...drag.attributes(row) }
        }}
        row={renderRow}
      />
      {menu.element}
    </div>
  )
}

function ariaOf(row: FileRow, isShown: boolean): Readonly<Record<string, unknown>> {
  return {
    'aria-level': row.depth + 1,
    'aria-posinset': row.position,
    'aria-setsize': row.siblings,
    'aria-expanded': row.type === 'directory' ? row.isOpen : undefined,
    'aria-current': isShown ? 'true' : undefined,
    'data-path': row.path,
  }
}

function NoFiles(parts: FileCommandParts) {
  return (
    <div class="empty">
      <p>No files yet.</p>
      <button type="button" class="button" disabled={!parts.canChange} onClick={() => beginNew(parts, 'file')}>
        New file
      </button>
    </div>
  )
}

/** The menu of an entry, or without an entry that of the project, at the pointer or at the entry. */
function useContextMenu(parts: FileCommandParts) {
  const [shown, setShown] = useState<{ readonly row: FileRow | undefined; readonly place: MenuPlace }>()
  const open = (row: FileRow | undefined, place: MenuPlace) => {
    if (row !== undefined) parts.files.select(row.path)
    setShown({ row, place })
  }
  const { row, place } = shown ?? {}
  return {
    open,
    onContextMenu: (row: FileRow | undefined) => (event: MouseEvent) => {
      event.preventDefault()
      event.stopPropagation()
      open(row, { x: event.clientX, y: event.clientY })
    },
    element: place !== undefined && (
      <Menu
        label={row === undefined ? 'Actions for the project' : `Actions for ${row.name}`}
        items={menuOf(parts, row)}
        place={place}
        onClose={() => setShown(undefined)}
      />
    ),
  }
}

/** Moves within the tree by the arrows that expand and collapse. */
function takeArrow({ key }: KeyboardEvent, row: FileRow | undefined, files: Files, next: FileRow | undefined): boolean {
  if (row === undefined) return false
  if (key === 'ArrowRight' && row.type === 'directory') {
    if (row.isOpen) files.select(next?.path ?? row.path)
    else void files.toggle(row.path, true)
    return true
  }
  if (key !== 'ArrowLeft') return false
  if (row.isOpen) void files.toggle(row.path, false)
  else files.select(directoryOf(row.path) || row.path)
  return true
}

function withNewRow(rows: readonly FileRow[], naming: Naming | undefined): readonly (FileRow | NewRow)[] {
  if (naming === undefined || naming.kind === 'rename') return rows
  const { kind, parent } = naming
  const at = rows.findIndex(({ path }) => path === parent)
  const depth = (rows[at]?.depth ?? -1) + 1
  return [...rows.slice(0, at + 1), { path: undefined, kind, parent, depth }, ...rows.slice(at + 1)]
}

/** The row in which an entry gets its name. */
function NamedRow({
  row,
  files,
  onEnd,
  onOpen,
}: {
  readonly row: FileRow | NewRow
  readonly files: Files
  readonly onEnd: () => void
  readonly onOpen: FileCommandParts['onOpen']
}) {
  const { naming } = files.snapshot
  const isNew = row.path === undefined
  const isDirectory = isNew ? row.kind === 'directory' : row.type === 'directory'
  const onDone = (name: string | undefined, hadFocus: boolean) => {
    files.setNaming(undefined)
    if (hadFocus) onEnd()
    if (name === undefined) return
    if (isNew) {
      const path = joinPath(row.parent, name)
      void files.create(row.kind, path).then((isDone) => isDone && row.kind === 'file' && onOpen(path, 1))
    } else void files.move(row.path, joinPath(directoryOf(row.path), name))
  }
  const label = isNew ? (isDirectory ? 'Name of the new folder' : 'Name of the new file') : `New name of ${row.name}`
  return (
    <>
      <TreeIndent depth={row.depth} chevron="none" />
      <TreeIcon path={isNew ? 'new' : row.path} isDirectory={isDirectory} />
      <NameField
        label={label}
        name={isNew ? '' : row.name}
        text={naming?.text ?? ''}
        onText={(text) => naming !== undefined && files.setNaming({ ...naming, text })}
        onDone={onDone}
      />
    </>
  )
}
