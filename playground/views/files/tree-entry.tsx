import type { ComponentChild } from 'preact'
import { FileIcon } from '../../../src/elements/parts/file-icon.tsx'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import type { PathFact } from '../../session/path-facts.ts'
import type { TreeRow } from '../../session/tree.ts'
import { MenuButton, type MenuItem } from '../../ui/menu.tsx'

const marks = { added: 'A', changed: 'M', deleted: 'D' } as const
const words = { added: 'added', changed: 'changed', deleted: 'deleted' } as const

export interface TreeEntryProps {
  readonly row: TreeRow
  readonly fact: PathFact | undefined
  readonly status: keyof typeof marks | undefined
  readonly isChangedWithin: boolean
  readonly hasDraft: boolean
  /** Whether the entry was cut and will be moved. */
  readonly isCut: boolean
  readonly menu: readonly MenuItem[]
}

/** One entry of the tree with its marks and its menu. */
export function TreeEntry(props: TreeEntryProps) {
  const { row, fact, status, isChangedWithin, hasDraft, isCut, menu } = props
  return (
    <>
      <TreeIndent level={row.level} chevron={row.type !== 'directory' ? 'none' : row.isOpen ? 'open' : ''} />
      <TreeIcon path={row.path} isDirectory={row.type === 'directory'} />
      <span class={`cut grow ${status ?? ''} ${fact?.isQuiet || isCut ? 'muted' : ''}`}>{row.name}</span>
      {fact?.kind !== undefined && <span class="tree-kind muted">{fact.kind}</span>}
      {isCut && <span class="visually-hidden">, cut</span>}
      {hasDraft && (
        <span class="unsaved" title="Draft, not saved">
          <span class="visually-hidden">, draft, not saved</span>
        </span>
      )}
      {fact?.lock !== undefined && (
        <span class="tree-lock" title={fact.lock}>
          <Icon name="lock" />
          <span class="visually-hidden">, protected: {fact.lock}</span>
        </span>
      )}
      {status !== undefined && (
        <span class={`tree-mark ${status}`}>
          <span aria-hidden="true">{marks[status]}</span>
          <span class="visually-hidden">, {words[status]}</span>
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

export function TreeIndent({ level, chevron }: { readonly level: number; readonly chevron: 'none' | 'open' | '' }) {
  return (
    <>
      <span style={{ width: `${(level - 1) * 12}px`, flex: 'none' }} />
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
