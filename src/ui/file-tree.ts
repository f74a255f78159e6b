import type { ControllerState } from './controller.ts'
import { directoryOf, joinPath } from './file-paths.ts'
import type { FileEntry, FilesSource } from './files-source.ts'
import type { FileRow, FilesSnapshot } from './files-state.ts'
import { createRefresh } from './refresh.ts'

/** The expanded part of a tree of files. */
export class FileTree {
  readonly #state: ControllerState<FilesSnapshot>
  readonly #source: FilesSource
  readonly #open = new Set([''])
  readonly #listed = new Map<string, readonly FileEntry[]>()

  /** Lists the open directories again. */
  readonly refresh = createRefresh(async () => {
    let trouble: string | undefined
    await Promise.all(
      [...this.#open].map(async (path) => {
        const listing = await this.#source.list(path)
        if (listing.entries !== undefined) this.#listed.set(path, sorted(listing.entries))
        else {
          // The directory was removed or replaced.
          this.#listed.delete(path)
          if (path !== '') this.#open.delete(path)
        }
        if (listing.entries !== undefined || path === '') trouble ??= listing.trouble
      }),
    )
    this.#show({ isLoading: false, trouble })
  })

  constructor(state: ControllerState<FilesSnapshot>, source: FilesSource) {
    this.#state = state
    this.#source = source
  }

  async toggle(path: string, isOpen = !this.#open.has(path)): Promise<void> {
    if (isOpen) this.#open.add(path)
    else this.#open.delete(path)
    if (isOpen && !this.#listed.has(path)) await this.refresh()
    else this.#show()
  }

  /** Expands the ancestors of a path and selects it. */
  async reveal(path: string): Promise<void> {
    for (let directory = directoryOf(path); directory !== ''; directory = directoryOf(directory)) {
      this.#open.add(directory)
    }
    await this.refresh()
    this.#state.update({ selected: path })
  }

  collapse(): void {
    this.#open.clear()
    this.#open.add('')
    this.#show()
  }

  #show(change: Partial<FilesSnapshot> = {}): void {
    const rows: FileRow[] = []
    const add = (directory: string, depth: number) => {
      const entries = this.#listed.get(directory) ?? []
      for (const [at, { name, type, isProtected = false }] of entries.entries()) {
        const path = joinPath(directory, name)
        const isOpen = type === 'directory' && this.#open.has(path) && this.#listed.has(path)
        rows.push({ ...{ path, name, depth, type, isOpen, isProtected }, position: at + 1, siblings: entries.length })
        if (isOpen) add(path, depth + 1)
      }
    }
    add('', 0)
    this.#state.update({ ...change, rows })
  }
}

/** Sorts directories first, then by name in natural order. */
function sorted(entries: readonly FileEntry[]): readonly FileEntry[] {
  const order = new Intl.Collator('en', { numeric: true })
  return [...entries].sort(
    (a, b) => Number(b.type === 'directory') - Number(a.type === 'directory') || order.compare(a.name, b.name),
  )
}
