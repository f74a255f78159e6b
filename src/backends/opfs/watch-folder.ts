import { childOf, isWithin, type Path, parentOf } from '../../paths/logical-path.ts'
import type { Backend, Change, OutsideListener } from '../../storage/backend.ts'
import { OutsideChanges, reportedPath } from '../../storage/outside-changes.ts'
import type { Folder } from './folder.ts'
import { storageFailure } from './storage-failure.ts'

/** One change that {@link FileSystemObserver} reports. */
interface ChangeRecord {
  readonly type: 'appeared' | 'disappeared' | 'modified' | 'moved' | 'unknown' | 'errored'
  /** The path below the observed directory. */
  readonly relativePathComponents: readonly string[]
  readonly relativePathMovedFrom?: readonly string[] | null
}

/** What only some browsers have: an observer of a directory. */
interface FileSystemObserver {
  observe(handle: FileSystemDirectoryHandle, options: { readonly recursive: boolean }): Promise<void>
  disconnect(): void
}

type ObserverClass = new (listener: (records: readonly ChangeRecord[]) => void) => FileSystemObserver

/** The watches of one folder. */
export class FolderWatches {
  readonly #folder: Folder
  readonly #inTurn: (action: () => Promise<void>) => Promise<unknown>
  readonly #open = new Map<OutsideChanges, () => void>()

  constructor(folder: Folder, inTurn: (action: () => Promise<void>) => Promise<unknown>) {
    this.#folder = folder
    this.#inTurn = inTurn
  }

  /** To be called after each commit, before the next action in turn. */
  async note(committed: readonly Pick<Change, 'path'>[]): Promise<void> {
    for (const changes of this.#open.keys()) await changes.note(committed.map(({ path }) => path))
  }

  /** Returns the method of a backend, if this browser has observers. */
  method(): Pick<Backend, 'watch'> {
    const Observer = (globalThis as { readonly FileSystemObserver?: ObserverClass }).FileSystemObserver
    if (typeof Observer !== 'function') return {}
    return {
      watch: async (path, onChange, { recursive = true } = {}) => {
        const entry = await this.#folder.look(path)
        const directory = entry?.type === 'file' ? parentOf(path) : path
        const isDeep = recursive && entry?.type === 'directory'
        const shows = (changed: Path) => isWithin(changed, path)
        const changes = this.#changes(shows, isDeep, onChange)
        const observer = new Observer((records) => report(changes, directory, records, shows))
        const end = () => {
          this.#open.delete(changes)
          changes.close()
          observer.disconnect()
        }
        this.#open.set(changes, end)
        try {
          await observer.observe(await this.#folder.directory(directory, 'list'), { recursive: isDeep })
        } catch (error) {
          end()
          throw storageFailure('Cannot watch the folder', error)
        }
        return end
      },
    }
  }

  close(): void {
    for (const end of this.#open.values()) end()
  }

  #changes(shows: (path: Path) => boolean, isDeep: boolean, onChange: OutsideListener): OutsideChanges {
    const folder = this.#folder
    const directories = new Set<Path>()
    const changes = new OutsideChanges({
      inTurn: this.#inTurn,
      onChange,
      async look(path) {
        // Handles of what others removed stay usable.
        folder.forget(path)
        const entry = await folder.look(path).catch(() => undefined)
        if (entry?.type !== 'directory') {
          directories.delete(path)
          return entry === undefined ? 'absent' : entry.stat.tag
        }
        // Not every system reports what is in a new directory.
        if (isDeep && !directories.has(path)) {
          directories.add(path)
          for (const { name } of await folder.list(path, 'list').catch(() => [])) {
            const below = reportedPath(childOf(path, name))
            if (below !== undefined && shows(below)) changes.report(below)
          }
        }
        return 'directory'
      },
    })
    return changes
  }
}

function report(
  changes: OutsideChanges,
  directory: Path,
  records: readonly ChangeRecord[],
  shows: (path: Path) => boolean,
): void {
  for (const { type, relativePathComponents, relativePathMovedFrom } of records) {
    if (type === 'unknown' || type === 'errored') {
      changes.report(undefined)
      continue
    }
    for (const names of [relativePathComponents, relativePathMovedFrom ?? []]) {
      const below = names.length === 0 ? undefined : reportedPath(names.join('/'))
      if (below === undefined) continue
      const path = childOf(directory, below)
      if (shows(path)) changes.report(path)
    }
  }
}
