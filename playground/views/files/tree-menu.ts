import { baseNameOf, directoryOf, type FileActions } from '../../session/file-actions.ts'
import type { FileTree, TreeRow } from '../../session/tree.ts'
import type { MenuItem } from '../../ui/menu.tsx'

export interface TreeCommandParts {
  readonly tree: FileTree
  readonly actions: FileActions
  readonly canChange: boolean
  readonly onOpen: (path: string) => void
  readonly announce: (text: string) => void
}

type Row = Pick<TreeRow, 'path' | 'type'>

/** The project itself, for what a person does beside the entries. */
const root: Row = { path: '', type: 'directory' }

const directoryAt = ({ path, type }: Row): string => (type === 'directory' ? path : directoryOf(path))

/** Begins to name a new entry in the directory of a row. */
export function beginNew({ tree, actions }: TreeCommandParts, kind: 'file' | 'directory', row: Row = root): void {
  const parent = directoryAt(row)
  void tree.toggle(parent, true).then(() => {
    actions.naming.value = { kind, parent, text: '' }
  })
}

function take({ actions, announce }: TreeCommandParts, path: string, isCut: boolean): void {
  actions.clipboard.value = { path, isCut }
  announce(`${isCut ? 'Cut' : 'Copied'} ${path}`)
}

/** The menu of an entry, or of the project itself. */
export function menuOf(parts: TreeCommandParts, row: Row = root): readonly MenuItem[] {
  const { actions, canChange, onOpen } = parts
  const disabled = !canChange
  const { path } = row
  const items: MenuItem[] = [
    { label: 'New file…', disabled, onSelect: () => beginNew(parts, 'file', row) },
    { label: 'New folder…', disabled, onSelect: () => beginNew(parts, 'directory', row) },
  ]
  const paste: MenuItem = {
    label: 'Paste',
    keys: 'Ctrl V',
    disabled: disabled || actions.clipboard.value === undefined,
    onSelect: () => void actions.paste(directoryAt(row)),
  }
  if (path === '') return [...items, { ...paste, startsGroup: true }]
  const open: MenuItem[] = row.type === 'directory' ? [] : [{ label: 'Open', onSelect: () => onOpen(path) }]
  return [
    ...open,
    ...items,
    { label: 'Cut', keys: 'Ctrl X', disabled, startsGroup: true, onSelect: () => take(parts, path, true) },
    { label: 'Copy', keys: 'Ctrl C', onSelect: () => take(parts, path, false) },
    paste,
    { label: 'Duplicate', keys: 'Ctrl D', disabled, onSelect: () => void actions.copy(path, directoryOf(path)) },
    {
      label: 'Copy path',
      startsGroup: true,
      onSelect: () => {
        void navigator.clipboard?.writeText(path)
        parts.announce(`Copied the path ${path}`)
      },
    },
    { label: 'Rename…', keys: 'F2', disabled, onSelect: () => beginRename(parts, path) },
    {
      label: 'Delete',
      keys: 'Del',

      disabled,
      isDanger: true,
      onSelect: () => void actions.remove(path),
    },
  ]
}

function beginRename({ actions }: TreeCommandParts, path: string): void {
  actions.naming.value = { kind: 'rename', path, text: baseNameOf(path) }
}

/** Carries out a key of the tree. Returns false if it has no meaning there. */
export function takeTreeKey(parts: TreeCommandParts, event: KeyboardEvent, row: Row | undefined): boolean {
  const { actions, canChange } = parts
  const isControl = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
  const key = isControl ? `Ctrl ${event.key.toLowerCase()}` : event.key
  if (key === 'Ctrl c' && row !== undefined) {
    take(parts, row.path, false)
    return true
  }
  if (key === 'Escape' && actions.clipboard.value?.isCut === true) {
    actions.clipboard.value = undefined
    return true
  }
  if (!canChange) return false
  const anywhere: Readonly<Record<string, () => unknown>> = {
    'Ctrl v': () => actions.paste(directoryAt(row ?? root)),
    'Ctrl z': () => actions.undo(),
  }
  const onRow: Readonly<Record<string, (path: string) => unknown>> = {
    'Ctrl x': (path) => take(parts, path, true),
    'Ctrl d': (path) => actions.copy(path, directoryOf(path)),
    F2: (path) => beginRename(parts, path),
    Delete: (path) => actions.remove(path),
  }
  const act = anywhere[key] ?? (row === undefined ? undefined : onRow[key])
  act?.(row?.path ?? '')
  return act !== undefined
}
