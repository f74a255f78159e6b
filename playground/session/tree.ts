import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Backend, Path } from 'wardspace'
import type { DirectoryEntry } from 'wardspace/backend'
import { oneAtATime } from './one-at-a-time.ts'

/** One row of the tree. */
export interface TreeRow {
  readonly path: string
  readonly name: string
  readonly type: DirectoryEntry['type']
  /** From 1. */
  readonly level: number
  readonly isOpen: boolean
  readonly position: number
  readonly siblings: number
}

/** The expanded part of a project's file tree. It shows all files, since they belong to the person. */
export interface FileTree {
  readonly rows: ReadonlySignal<readonly TreeRow[]>
  /** The path of the row that the keyboard is on. */
  readonly selected: Signal<string | undefined>
  /** Expands or collapses a directory. */
  toggle(path: string, open?: boolean): Promise<void>
  /** Expands the ancestors of a path. */
  reveal(path: string): Promise<void>
  /** Collapses all directories. */
  collapse(): void
  /** Lists the expanded directories again. */
  refresh(): Promise<void>
}

export function createTree(backend: Pick<Backend, 'list'>): FileTree {
  const rows = signal<readonly TreeRow[]>([])
  const open = new Set<string>([''])
  const listed = new Map<string, readonly DirectoryEntry[]>()
  const refresh = oneAtATime(async () => {
    await Promise.all(
      [...open].map(async (path) => {
        try {
          listed.set(path, sorted(await backend.list(path as Path)))
        } catch {
          // The directory was removed or replaced.
          listed.delete(path)
          if (path !== '') open.delete(path)
        }
      }),
    )
    show()
  })

  function show(): void {
    const shown: TreeRow[] = []
    const add = (directory: string, level: number) => {
      const entries = listed.get(directory) ?? []
      for (const [at, { name, type }] of entries.entries()) {
        const path = directory === '' ? name : `${directory}/${name}`
        const isOpen = type === 'directory' && open.has(path) && listed.has(path)
        shown.push({ path, name, type, level, isOpen, position: at + 1, siblings: entries.length })
        if (isOpen) add(path, level + 1)
      }
    }
    add('', 1)
    rows.value = shown
  }

  return {
    rows,
    selected: signal<string | undefined>(undefined),
    refresh,
    collapse() {
      open.clear()
      open.add('')
      show()
    },
    async toggle(path, isOpen = !open.has(path)) {
      if (isOpen) open.add(path)
      else open.delete(path)
      if (isOpen && !listed.has(path)) await refresh()
      else show()
    },
    async reveal(path) {
      const names = path.split('/').slice(0, -1)
      for (const at of names.keys()) open.add(names.slice(0, at + 1).join('/'))
      await refresh()
    },
  }
}

/** Sorts directories first, then by name in natural order. */
function sorted(entries: readonly DirectoryEntry[]): readonly DirectoryEntry[] {
  const order = new Intl.Collator('en', { numeric: true })
  return [...entries].sort(
    (a, b) => Number(b.type === 'directory') - Number(a.type === 'directory') || order.compare(a.name, b.name),
  )
}
