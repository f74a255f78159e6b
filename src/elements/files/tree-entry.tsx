import type { ComponentChild } from 'preact'
import type { FileRow } from '../../ui/files-state.ts'
import { FileIcon } from '../parts/file-icon.tsx'
import { Icon } from '../parts/icon.tsx'
import { MenuButton, type MenuItem } from '../parts/menu.tsx'
import type { FileMarks } from '../properties.ts'

const letters = { added: 'A', changed: 'M', deleted: 'D' } as const

export interface TreeEntryProps {
  readonly row: FileRow
  readonly marks: FileMarks | undefined
  /** Whether the entry was cut and will be moved. */
  readonly isCut: boolean
  readonly menu: readonly MenuItem[]
}

/** One entry of the tree with its marks and its menu. */
export function TreeEntry({ row, marks = {}, isCut, menu }: TreeEntryProps) {
  const { status, kind, isQuiet, hasDraft, isChangedWithin } = marks
  const lock = marks.lock ?? (row.isProtected ? 'it cannot be read' : undefined)
  return (
    <>
      <TreeIndent depth={row.depth} chevron={row.type !== 'directory' ? 'none' : row.isOpen ? 'open' : ''} />
      <TreeIcon path={row.path} isDirectory={row.type === 'directory'} />
      <span class={`cut grow ${status ?? ''} ${isQuiet || isCut ? 'muted' : ''}`}>{row.name}</span>
      {kind !== undefined && <span class="tree-kind muted">{kind}</span>}
      {isCut && <span class="visually-hidden">, cut</span>}
      {hasDraft && (
        <span class="unsaved" title="Draft, not saved">
          <span class="visually-hidden">, draft, not saved</span>
        </span>
      )}
      {lock !== undefined && (
        <span class="tree-lock" title={lock}>
          <Icon name="lock" />
          <span class="visually-hidden">, protected: {lock}</span>
        </span>
      )}
      {status !== undefined && (
        <span class={`tree-mark ${status}`}>
          <span aria-hidden="true">{letters[status]}</span>
          <span class="visually-hidden">, {status}</span>
        </span>
      )}
      {isChangedWithin && (
        <span class="tree-mark changed">
          <span aria-hidden="true">•</span>
          <span class="visually-hidden">, changed within</span>
        </span>
      )}
      <MenuButton icon="dots" label={`Actions for ${row.name}`} items={menu} isInList />
    </>
  )
}

export function TreeIndent({ depth, chevron }: { readonly depth: number; readonly chevron: 'none' | 'open' | '' }) {
  return (
    <>
      <span style={{ width: `${depth * 12}px`, flex: 'none' }} />
      <span class={`chevron ${chevron}`}>
        <Icon name="chevron" />
      </span>
    </>
  )
}

export function TreeIcon({
  path,
  isDirectory,
}: {
  readonly path: string
  readonly isDirectory: boolean
}): ComponentChild {
  return <span class="muted tree-icon">{isDirectory ? <Icon name="folder" /> : <FileIcon path={path} />}</span>
}
