import { baseNameOf, directoryOf } from '../../ui/file-paths.ts'
import type { Files } from '../../ui/files.ts'
import type { FileRow } from '../../ui/files-state.ts'
import type { MenuItem } from '../parts/menu.tsx'

export interface FileCommandParts {
  readonly files: Files
  readonly canChange: boolean
  /** A new file is opened at its first line. */
  readonly onOpen: (path: string, line?: number) => void
  readonly announce: (text: string) => void
}

type Row = Pick<FileRow, 'path' | 'type'>

/** The project itself, for what a person does beside the entries. */
const root: Row = { path: '', type: 'directory' }

const directoryAt = ({ path, type }: Row): string => (type === 'directory' ? path : directoryOf(path))

/** Begins to name a new entry in the directory of a row. */
export function beginNew({ files }: FileCommandParts, kind: 'file' | 'directory', row: Row = root): void {
  const parent = directoryAt(row)
  void files.toggle(parent, true).then(() => files.setNaming({ kind, parent, text: '' }))
}

function take({ files, announce }: FileCommandParts, path: string, isCut: boolean): void {
  files.setClipboard({ path, isCut })
  announce(`${isCut ? 'Cut' : 'Copied'} ${path}`)
}

/** The menu of an entry, or of the project itself. */
export function menuOf(parts: FileCommandParts, row: Row = root): readonly MenuItem[] {
  const { files, canChange, onOpen } = parts
  const disabled = !canChange
  const { path } = row
  const items: MenuItem[] = [
    { label: 'New file…', disabled, onSelect: () => beginNew(parts, 'file', row) },
    { label: 'New folder…', disabled, onSelect: () => beginNew(parts, 'directory', row) },
  ]
  const paste: MenuItem = {
    label: 'Paste',
    keys: 'Ctrl V',
    disabled: disabled || files.snapshot.clipboard === undefined,
    onSelect: () => void files.paste(directoryAt(row)),
  }
  if (path === '') return [...items, { ...paste, startsGroup: true }]
  const open: MenuItem[] = row.type === 'directory' ? [] : [{ label: 'Open', onSelect: () => onOpen(path) }]
  return [
    ...open,
    ...items,
    { label: 'Cut', keys: 'Ctrl X', disabled, startsGroup: true, onSelect: () => take(parts, path, true) },
    { label: 'Copy', keys: 'Ctrl C', onSelect: () => take(parts, path, false) },
    paste,
    { label: 'Duplicate', keys: 'Ctrl D', disabled, onSelect: () => void files.copy(path, directoryOf(path)) },
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
      onSelect: () => void files.remove(path),
    },
  ]
}

function beginRename({ files }: FileCommandParts, path: string): void {
  files.setNaming({ kind: 'rename', path, text: baseNameOf(path) })
}

/** Carries out a key of the tree. Returns false if it has no meaning there. */
export function takeKey(parts: FileCommandParts, event: KeyboardEvent, row: Row | undefined): boolean {
  const { files, canChange } = parts
  const isControl = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey
  const key = isControl ? `Ctrl ${event.key.toLowerCase()}` : event.key
  if (key === 'Ctrl c' && row !== undefined) {
    take(parts, row.path, false)
    return true
  }
  if (key === 'Escape' && files.snapshot.clipboard?.isCut === true) {
    files.setClipboard(undefined)
    return true
  }
  if (!canChange) return false
  const anywhere: Readonly<Record<string, () => unknown>> = {
    'Ctrl v': () => files.paste(directoryAt(row ?? root)),
    'Ctrl z': () => files.undo(),
  }
  const onRow: Readonly<Record<string, (path: string) => unknown>> = {
    'Ctrl x': (path) => take(parts, path, true),
    'Ctrl d': (path) => files.copy(path, directoryOf(path)),
    F2: (path) => beginRename(parts, path),
    Delete: (path) => files.remove(path),
  }
  const act = anywhere[key] ?? (row === undefined ? undefined : onRow[key])
  act?.(row?.path ?? '')
  return act !== undefined
}
