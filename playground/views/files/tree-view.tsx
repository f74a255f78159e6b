import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { IconButton } from '../../../src/elements/parts/icon-button.tsx'
import { isTouch } from '../../../src/elements/parts/touch.ts'
import { VirtualList } from '../../../src/elements/parts/virtual-list.tsx'
import { directoryOf, type FileActions, joinPath, type Naming } from '../../session/file-actions.ts'
import { createPathFacts } from '../../session/path-facts.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import type { TreeRow } from '../../session/tree.ts'
import { announce } from '../../ui/announce.tsx'
import { Menu, MenuButton, type MenuPlace } from '../../ui/menu.tsx'
import { FileNotice } from './file-notice.tsx'
import { NameField } from './name-field.tsx'
import { TreeEntry, TreeIcon, TreeIndent } from './tree-entry.tsx'
import { beginNew, menuOf, type TreeCommandParts, takeTreeKey } from './tree-menu.ts'
import { useTreeDrag } from './use-tree-drag.ts'

type TreeSession = Pick<
  ProjectSession,
  'tree' | 'files' | 'fileActions' | 'changed' | 'session' | 'project' | 'writable'
>

export interface TreeViewProps {
  readonly projectSession: TreeSession
  readonly onOpen: (path: string) => void
}

/** The height of a row, in pixels, with a pointer and on a touch screen. */
const ROW = 28
const TOUCH_ROW = 44

/** The row of an entry that has no name yet. */
interface NewRow {
  readonly path: undefined
  readonly kind: 'file' | 'directory'
  readonly parent: string
  readonly level: number
}

function commandParts({ projectSession, onOpen }: TreeViewProps): TreeCommandParts {
  const { tree, fileActions: actions, writable } = projectSession
  return { tree, actions, canChange: writable.value, onOpen, announce }
}

const newEntries = [
  { type: 'file', icon: 'newFile', label: 'New file' },
  { type: 'directory', icon: 'newFolder', label: 'New folder' },
] as const

/** The buttons above the tree. */
export function TreeActions(props: TreeViewProps) {
  const parts = commandParts(props)
  const { tree, canChange } = parts
  const row = tree.rows.value.find(({ path }) => path === tree.selected.value)
  return (
    <>
      {newEntries.map(({ type, icon, label }) => (
        <IconButton
          key={type}
          icon={icon}
          label={label}
          title={label}
          disabled={!canChange}
          onClick={() => beginNew(parts, type, row)}
        />
      ))}
      <MenuButton
        icon="dots"
        label="More actions on files"
        items={[
          ...menuOf(parts),
          { label: 'Collapse all folders', startsGroup: true, onSelect: () => tree.collapse() },
        ]}
      />
    </>
  )
}

/** The files of the project, marked as changed or protected. */
export function TreeView(props: TreeViewProps) {
  const { projectSession, onOpen } = props
  const { tree, fileActions: actions } = projectSession
  const parts = commandParts(props)
  const view = useRef<HTMLDivElement>(null)
  const drag = useTreeDrag(actions, parts.canChange)
  useEffect(() => void tree.refresh(), [projectSession])
  const rows = withNewRow(tree.rows.value, actions.naming.value)
  const selected = tree.selected.value
  const at = selected === undefined ? -1 : rows.findIndex(({ path }) => path === selected)
  const existing = (index: number): TreeRow | undefined => {
    const row = rows[index]
    return row?.path === undefined ? undefined : row
  }
  const renderEntry = useEntries(parts, projectSession)
  const menu = useContextMenu(parts)
  const openOrToggle = (row: TreeRow | undefined) => {
    if (row?.type === 'directory') void tree.toggle(row.path)
    else if (row !== undefined) onOpen(row.path)
  }
  const onKey = (event: KeyboardEvent, index: number): boolean => {
    const row = existing(index)
    if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
      menu.open(row, view.current?.querySelector<HTMLElement>('[data-active]') ?? { x: 80, y: 120 })
    } else if (event.key === ' ') openOrToggle(row)
    else return takeArrow(event, row, parts, existing(index + 1)) || takeTreeKey(parts, event, row)
    return true
  }
  return (
    <div class="fill" ref={view}>
      {rows.length === 0 && <NoFiles onNew={() => beginNew(parts, 'file')} />}
      <VirtualList
        label="Project files"
        role="tree"
        name="tree"
        count={rows.length}
        rowHeight={isTouch() ? TOUCH_ROW : ROW}
        active={at}
        onActive={(index) => {
          tree.selected.value = existing(index)?.path ?? tree.selected.value
        }}
        onOpen={(index) => openOrToggle(existing(index))}
        onKey={onKey}
        onModifiedKey={(event, index) => takeTreeKey(parts, event, existing(index))}
        listAttributes={{ ...drag.list, onContextMenu: menu.onContextMenu(undefined) }}
        attributes={(index) => {
          const row = existing(index)
          if (row === undefined) return { 'aria-level': rows[index]?.level }
          return {
            ...ariaOf(row),

            onContextMenu: menu.onContextMenu(row),
            ...drag.attributes(row),
          }
        }}
        row={(index) => {
          const row = rows[index]
          if (row === undefined) return null
          const naming = actions.naming.value
          const isNamed = row.path === undefined || (naming?.kind === 'rename' && naming.path === row.path)
          if (!isNamed) return renderEntry(row)
          const onEnd = () => view.current?.querySelector<HTMLElement>('[role="tree"]')?.focus()
          return <NamedRow row={row} actions={actions} onEnd={onEnd} onOpen={onOpen} />
        }}
      />
      <FileNotice actions={actions} />
      {menu.element}
    </div>
  )
}

function ariaOf(row: TreeRow): Readonly<Record<string, unknown>> {
  return {
    'aria-level': row.level,
    'aria-posinset': row.position,
    'aria-setsize': row.siblings,
    'aria-expanded': row.type === 'directory' ? row.isOpen : undefined,
    'data-path': row.path,
  }
}

function NoFiles({ onNew }: { readonly onNew: () => void }) {
  return (
    <div class="empty">
      <p>No files yet.</p>
      <button type="button" class="button" onClick={onNew}>
        New file
      </button>
    </div>
  )
}

/** The menu of an entry, or without an entry that of the project, at the pointer or at the entry. */
function useContextMenu(parts: TreeCommandParts) {
  const shown = useSignal<{ readonly row: TreeRow | undefined; readonly place: MenuPlace } | undefined>(undefined)
  const open = (row: TreeRow | undefined, place: MenuPlace) => {
    if (row !== undefined) parts.tree.selected.value = row.path
    shown.value = { row, place }
  }
  const { row, place } = shown.value ?? {}
  return {
    open,
    onContextMenu: (row: TreeRow | undefined) => (event: MouseEvent) => {
      event.preventDefault()
      event.stopPropagation()
      open(row, { x: event.clientX, y: event.clientY })
    },
    element: place !== undefined && (
      <Menu
        label={row === undefined ? 'Actions for the project' : `Actions for ${row.name}`}
        items={menuOf(parts, row)}
        place={place}
        onClose={() => {
          shown.value = undefined
        }}
      />
    ),
  }
}

/** Moves within the tree by the arrows that expand and collapse. */
function takeArrow(
  { key }: KeyboardEvent,
  row: TreeRow | undefined,
  { tree }: TreeCommandParts,
  next: TreeRow | undefined,
): boolean {
  if (row === undefined) return false
  if (key === 'ArrowRight' && row.type === 'directory') {
    if (row.isOpen) tree.selected.value = next?.path ?? row.path
    else void tree.toggle(row.path, true)
    return true
  }
  if (key !== 'ArrowLeft') return false
  if (row.isOpen) void tree.toggle(row.path, false)
  else tree.selected.value = directoryOf(row.path) || row.path
  return true
}

function withNewRow(rows: readonly TreeRow[], naming: Naming | undefined): readonly (TreeRow | NewRow)[] {
  if (naming === undefined || naming.kind === 'rename') return rows
  const { kind, parent } = naming
  const at = rows.findIndex(({ path }) => path === parent)
  const level = (rows[at]?.level ?? 0) + 1
  return [...rows.slice(0, at + 1), { path: undefined, kind, parent, level }, ...rows.slice(at + 1)]
}

/** The row in which an entry gets its name. */
function NamedRow({
  row,
  actions,
  onEnd,
  onOpen,
}: {
  readonly row: TreeRow | NewRow
  readonly actions: FileActions
  readonly onEnd: () => void
  readonly onOpen: (path: string) => void
}) {
  const isNew = row.path === undefined
  const isDirectory = isNew ? row.kind === 'directory' : row.type === 'directory'
  const onDone = (name: string | undefined, hadFocus: boolean) => {
    actions.naming.value = undefined
    if (hadFocus) onEnd()
    if (name === undefined) return
    if (isNew) {
      const path = joinPath(row.parent, name)
      void actions.create(row.kind, path).then((isDone) => isDone && row.kind === 'file' && onOpen(path))
    } else void actions.move(row.path, joinPath(directoryOf(row.path), name))
  }
  const label = isNew ? (isDirectory ? 'Name of the new folder' : 'Name of the new file') : `New name of ${row.name}`
  return (
    <>
      <TreeIndent level={row.level} chevron="none" />
      <TreeIcon path={isNew ? 'new' : row.path} isDirectory={isDirectory} />
      <NameField
        label={label}
        name={isNew ? '' : row.name}
        text={actions.naming.value?.text ?? ''}
        onText={(text) => {
          const naming = actions.naming.value
          if (naming !== undefined) actions.naming.value = { ...naming, text }
        }}
        onDone={onDone}
      />
    </>
  )
}

/** Returns a function that renders an entry with what is known about its path. */
function useEntries(parts: TreeCommandParts, { changed, files, session }: TreeSession) {
  const workspace = session.workspace.value
  const facts = useMemo(() => createPathFacts(workspace), [workspace])
  const revision = facts.revision.value
  const changes = changed.value
  const drafts = new Set(files.all.value.flatMap(({ path, draft }) => (draft === undefined ? [] : [path])))
  const clipboard = parts.actions.clipboard.value
  return (row: TreeRow) => (
    <TreeEntry
      row={row}
      fact={facts.of(row.path, row.type, revision)}
      status={changes.get(row.path)}
      isChangedWithin={row.type === 'directory' && !row.isOpen && hasChangeBelow(changes, row.path)}
      hasDraft={drafts.has(row.path)}
      isCut={clipboard?.isCut === true && clipboard.path === row.path}
      menu={menuOf(parts, row)}
    />
  )
}

function hasChangeBelow(changed: ReadonlyMap<string, unknown>, directory: string): boolean {
  for (const path of changed.keys()) if (path.startsWith(`${directory}/`)) return true
  return false
}
