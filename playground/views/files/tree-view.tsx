import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { createPathFacts } from '../../session/path-facts.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import type { TreeRow } from '../../session/tree.ts'
import { Icon } from '../../ui/icon.tsx'
import { isTouch } from '../../ui/touch.ts'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { FileIcon } from './file-icon.tsx'

const marks = { added: 'A', changed: 'M', deleted: 'D' } as const
const words = { added: 'added', changed: 'changed', deleted: 'deleted' } as const

export interface TreeViewProps {
  readonly projectSession: Pick<ProjectSession, 'tree' | 'files' | 'changed' | 'session'>
  readonly onOpen: (path: string) => void
}

/** The height of a row, in pixels, with a pointer and on a touch screen. */
const ROW = 28
const TOUCH_ROW = 44

/** The files of the project, marked as changed or protected. */
export function TreeView({ projectSession, onOpen }: TreeViewProps) {
  const active = useSignal<string | undefined>(undefined)
  const rows = projectSession.tree.rows.value
  const changed = projectSession.changed.value
  const drafts = new Set(
    projectSession.files.all.value.flatMap(({ path, draft }) => (draft === undefined ? [] : [path])),
  )
  const workspace = projectSession.session.workspace.value
  const facts = useMemo(() => createPathFacts(workspace), [workspace])
  const revision = facts.revision.value
  const at = rows.findIndex(({ path }) => path === active.value)
  useEffect(() => void projectSession.tree.refresh(), [projectSession])

  const open = (row: TreeRow) => {
    if (row.type === 'directory') void projectSession.tree.toggle(row.path)
    else onOpen(row.path)
  }
  const onKey = (event: KeyboardEvent, index: number): boolean => {
    const row = rows[index]
    if (row === undefined) return false
    if (event.key === ' ') open(row)
    else if (event.key === 'ArrowRight' && row.type === 'directory') {
      if (row.isOpen) active.value = rows[index + 1]?.path ?? row.path
      else void projectSession.tree.toggle(row.path, true)
    } else if (event.key === 'ArrowLeft') {
      if (row.isOpen) void projectSession.tree.toggle(row.path, false)
      else active.value = row.path.split('/').slice(0, -1).join('/') || row.path
    } else return false
    return true
  }

  return (
    <VirtualList
      label="Project files"
      role="tree"
      name="tree"
      count={rows.length}
      rowHeight={isTouch() ? TOUCH_ROW : ROW}
      active={at}
      onActive={(index) => {
        active.value = rows[index]?.path
      }}
      onOpen={(index) => rows[index] && open(rows[index])}
      onKey={onKey}
      attributes={(index) => {
        const row = rows[index]
        return {
          'aria-level': row?.level,
          'aria-posinset': row?.position,
          'aria-setsize': row?.siblings,
          'aria-expanded': row?.type === 'directory' ? row.isOpen : undefined,
          'data-path': row?.path,
        }
      }}
      row={(index) => {
        const row = rows[index]
        if (row === undefined) return null
        const fact = facts.of(row.path, row.type, revision)
        const status = changed.get(row.path)
        const within = row.type === 'directory' && !row.isOpen && hasChangeBelow(changed, row.path)
        return (
          <TreeEntry row={row} fact={fact} status={status} isChangedWithin={within} hasDraft={drafts.has(row.path)} />
        )
      }}
    />
  )
}

function TreeEntry({
  row,
  fact,
  status,
  isChangedWithin,
  hasDraft,
}: {
  readonly row: TreeRow
  readonly fact: ReturnType<ReturnType<typeof createPathFacts>['of']>
  readonly status: keyof typeof marks | undefined
  readonly isChangedWithin: boolean
  readonly hasDraft: boolean
}) {
  return (
    <>
      <span style={{ width: `${(row.level - 1) * 12}px`, flex: 'none' }} />
      <span class={`chevron ${row.type !== 'directory' ? 'none' : row.isOpen ? 'open' : ''}`}>
        <Icon name="chevron" />
      </span>
      <span class="muted tree-icon">
        {row.type === 'directory' ? <Icon name="folder" /> : <FileIcon path={row.path} />}
      </span>
      <span class={`cut grow ${status ?? ''} ${fact?.isQuiet ? 'muted' : ''}`}>{row.name}</span>
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
      {fact?.kind !== undefined && <span class="tree-kind muted">{fact.kind}</span>}
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
    </>
  )
}

function hasChangeBelow(changed: ReadonlyMap<string, unknown>, directory: string): boolean {
  for (const path of changed.keys()) if (path.startsWith(`${directory}/`)) return true
  return false
}
