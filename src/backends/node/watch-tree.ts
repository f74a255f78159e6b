import { type FSWatcher, watch } from 'node:fs'
import { sep } from 'node:path'
import { ToolError } from '../../errors.ts'
import { childOf, display, isWithin, nameOf, type Path, parentOf, quote } from '../../paths/logical-path.ts'
import type { Backend, OutsideListener } from '../../storage/backend.ts'
import { OutsideChanges, reportedPath } from '../../storage/outside-changes.ts'
import { errnoOf, storageError } from '../../storage/storage-error.ts'
import { yieldToEventLoop } from '../../util/timers.ts'
import { isMissing } from './errno.ts'
import { isListable, listDirectory } from './list-directory.ts'
import { tagOf, typeOf } from './stat.ts'
import type { TreeAccess } from './tree-access.ts'

/** What is watched, and how its changes are passed on. */
export interface WatchedTree {
  readonly access: TreeAccess
  readonly path: Path
  readonly recursive: boolean
  inTurn(action: () => Promise<void>): Promise<unknown>
  readonly onChange: OutsideListener
}

/** The watches of one backend. */
export class TreeWatches {
  readonly #open = new Set<TreeWatch>()

  /** To be called after each commit, before the next action in turn. */
  readonly note = async (paths: readonly Path[]): Promise<void> => {
    for (const { changes } of this.#open) await changes.note(paths)
  }

  /** Returns the method of the backend. It throws only ToolErrors. In Deno there is none: its watches lose a directory that was opened. */
  method(
    access: TreeAccess,
    { canonical }: Pick<Backend, 'canonical'>,
    inTurn: WatchedTree['inTurn'],
  ): Pick<Backend, 'watch'> {
    if ('Deno' in globalThis) return {}
    return {
      // Looks at the start first: after recovery, and refused once the backend is closed.
      watch: async (start, onChange, { recursive = true } = {}) =>
        this.#start({ access, path: await canonical(start, { noFollow: true }), recursive, inTurn, onChange }),
    }
  }

  async #start(tree: WatchedTree): Promise<() => void> {
    const watch = new TreeWatch(tree)
    const end = () => {
      this.#open.delete(watch)
      watch.close()
    }
    this.#open.add(watch)
    try {
      await watch.open()
      return end
    } catch (error) {
      end()
      throw storageError('watch', tree.path, error)
    }
  }

  close(): void {
    for (const watch of this.#open) watch.close()
  }
}

/**
 * Watches a part of the tree for changes by others. Linux reports the names in one directory, so each directory has a watcher
 * of its own, which is opened without following a link; other systems report a whole tree.
 */
class TreeWatch {
  readonly changes: OutsideChanges
  readonly #tree: WatchedTree
  readonly #watchers = new Map<Path, FSWatcher>()
  readonly #isFlat: boolean
  #isClosed = false

  constructor(tree: WatchedTree) {
    this.#tree = tree
    this.#isFlat = process.platform === 'linux' || !tree.recursive
    this.changes = new OutsideChanges({ look: (path) => this.#look(path), ...tree })
  }

  /** Starts the watching. Throws system errors, and `LIMIT_EXCEEDED` for a tree with too many directories. */
  async open(): Promise<void> {
    const { path } = this.#tree
    if (!this.#isDirectory(path)) this.#attach(parentOf(path))
    else for (const count of this.#attachAll(path)) if (count % 100 === 0) await yieldToEventLoop()
  }

  close(): void {
    this.#isClosed = true
    this.changes.close()
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  /** Attaches to a directory and to those below. Yields their number. `onEntry` is called for what is in them. */
  *#attachAll(start: Path, onEntry?: (path: Path) => void): Generator<number> {
    const waiting = [start]
    for (let next = waiting.pop(); next !== undefined && !this.#isClosed; next = waiting.pop()) {
      this.#attach(next)
      yield this.#watchers.size
      if (!this.#isFlat || !this.#tree.recursive) continue
      for (const { name, type } of listDirectory(this.#tree.access, next)) {
        const path = childOf(next, name)
        onEntry?.(path)
        if (type === 'directory' && name !== '.git') waiting.push(path)
      }
    }
  }

  #attach(directory: Path): void {
    this.#detach(directory)
    if (this.#watchers.size >= MAX_DIRECTORIES) throw tooManyError(this.#tree.path)
    const pin = this.#tree.access.pin(directory)
    try {
      // With the dot, an event of the directory itself cannot be taken for one of a name in it.
      const watcher = watch(`${pin.self}/.`, { recursive: !this.#isFlat }, (event, name) =>
        this.#note(directory, event, name),
      )
      watcher.on('error', () => this.changes.report(undefined))
      this.#watchers.set(directory, watcher)
    } catch (error) {
      throw ['ENOSPC', 'EMFILE'].includes(errnoOf(error) ?? '') ? tooManyError(this.#tree.path) : error
    } finally {
      pin.close()
    }
  }

  #detach(directory: Path): void {
    this.#watchers.get(directory)?.close()
    this.#watchers.delete(directory)
  }

  #detachAll(path: Path): void {
    for (const directory of this.#watchers.keys()) if (isWithin(directory, path)) this.#detach(directory)
  }

  #note(directory: Path, event: string, name: string | null): void {
    if (name === null) {
      this.changes.report(undefined)
      return
    }
    if (name === '.') {
      // The directory is gone. What takes its place is watched again, when its path is looked at.
      if (event === 'rename') this.#detachAll(directory)
      return
    }
    const below = reportedPath(name.replaceAll(sep, '/'))
    if (below === undefined || below.split('/').includes('.git')) return
    const path = childOf(directory, below)
    if (isListable(parentOf(path), nameOf(path)) && isWithin(path, this.#tree.path)) this.changes.report(path)
  }

  /** Returns the state of a path. A new directory is watched, and what is in it reported. */
  #look(path: Path): string | undefined {
    try {
      const entry = this.#tree.access.look(path)
      entry.close()
      if (typeOf(entry.stat) !== 'directory') return tagOf(entry.stat)
      if (this.#isFlat && this.#tree.recursive && !this.#watchers.has(path)) this.#attachNew(path)
      return `directory ${entry.stat.ino}`
    } catch (error) {
      if (!isMissing(error)) return undefined
      this.#detachAll(path)
      return 'absent'
    }
  }

  #attachNew(directory: Path): void {
    try {
      for (const _ of this.#attachAll(directory, (path) => this.changes.report(path)));
    } catch (error) {
      // What is gone again is reported by the directory above.
      if (!isMissing(error)) this.changes.report(undefined)
    }
  }

  #isDirectory(path: Path): boolean {
    const entry = this.#tree.access.look(path)
    entry.close()
    return entry.stat.isDirectory()
  }
}

function tooManyError(path: Path): ToolError {
  return new ToolError('LIMIT_EXCEEDED', `Cannot watch ${quote(display(path))}: it has too many directories`, {
    path: display(path),
    hint: `Watch a directory with at most ${MAX_DIRECTORIES} below it, or raise the number of watches that the system allows.`,
  })
}

const MAX_DIRECTORIES = 10_000
