import { isWithin, nameOf, type Path, parentOf, ROOT } from '../../paths/logical-path.ts'
import type { EntryState } from '../../storage/backend.ts'
import type { WebContainer } from './client.ts'
import { containerCall } from './container-call.ts'
import {
  buildFileTree,
  type ContainerEntry,
  type ContainerTree,
  EXPORT_EXCLUDES,
  type FileTree,
  parseFileTree,
} from './file-tree.ts'

/** A path and the state that it gets in the container. */
export interface ContainerChange {
  readonly path: Path
  readonly to: EntryState
}

/** Number of files that are written at the same time. */
const CONCURRENT_WRITES = 32

/** Reads and writes one directory of a container. */
export class ContainerFiles {
  readonly #container: WebContainer
  readonly #directory: string
  #isLost = false

  constructor(container: WebContainer, directory: string) {
    this.#container = container
    this.#directory = directory
  }

  /** Whether an operation has failed, so that the content of the container is unknown. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** Reads all entries, except those that exist only in the container. */
  async export(): Promise<Map<Path, ContainerEntry>> {
    const tree = await this.#call(
      'export its files',
      this.#container.export(this.#directory, { format: 'json', excludes: [...EXPORT_EXCLUDES] }),
    )
    return parseFileTree(tree as FileTree)
  }

  /** Adds all entries in one operation. */
  async mount(entries: ContainerTree): Promise<void> {
    const tree = buildFileTree(entries)
    await this.#call('take the workspace', this.#container.mount(tree, { mountPoint: this.#directory }))
  }

  remove(path: Path): Promise<void> {
    return this.#call('remove a file', this.#container.fs.rm(this.#at(path), { recursive: true, force: true }))
  }

  /** Applies changes to the current entries: removes first, then creates directories, files and links. */
  async write(current: ContainerTree, changes: readonly ContainerChange[]): Promise<void> {
    const sorted = [...changes].sort((a, b) => (a.path < b.path ? -1 : 1))
    const removed = await this.#removeReplaced(current, sorted)
    const isRemoved = (path: Path) => removed.some((above) => isWithin(path, above))
    const missing = new Set<Path>()
    for (const { path, to } of sorted) {
      if (to === null) continue
      const directory = to.type === 'directory' ? path : parentOf(path)
      if (directory !== ROOT && (isRemoved(directory) || current.get(directory)?.type !== 'directory')) {
        missing.add(directory)
      }
    }
    for (const path of missing) {
      await this.#call('make a directory', this.#container.fs.mkdir(this.#at(path), { recursive: true }))
    }
    await this.#writeFiles(sorted)
    for (const { path, to } of sorted) {
      if (to?.type !== 'link') continue
      // A mount does not replace a link.
      if (current.get(path)?.type === 'link' && !isRemoved(path)) await this.remove(path)
      const link = { [nameOf(path)]: { file: { symlink: to.target } } }
      await this.#call('take a link', this.#container.mount(link, { mountPoint: this.#at(parentOf(path)) }))
    }
  }

  /** Removes entries that disappear or change their type. Returns their topmost paths. */
  async #removeReplaced(current: ContainerTree, changes: readonly ContainerChange[]): Promise<readonly Path[]> {
    const removed: Path[] = []
    for (const { path, to } of changes) {
      const entry = current.get(path)
      if (entry === undefined || entry.type === to?.type || removed.some((above) => isWithin(path, above))) continue
      await this.remove(path)
      removed.push(path)
    }
    return removed
  }

  async #writeFiles(changes: readonly ContainerChange[]): Promise<void> {
    const files = changes.flatMap(({ path, to }) => (to?.type === 'file' ? [{ path, bytes: to.bytes }] : []))
    for (let i = 0; i < files.length; i += CONCURRENT_WRITES) {
      const batch = files.slice(i, i + CONCURRENT_WRITES)
      await Promise.all(
        batch.map(({ path, bytes }) => this.#call('take a file', this.#container.fs.writeFile(this.#at(path), bytes))),
      )
    }
  }

  async #call<T>(action: string, promise: Promise<T>): Promise<T> {
    try {
      return await containerCall(action, promise)
    } catch (error) {
      this.#isLost = true
      throw error
    }
  }

  #at(path: string): string {
    return path === '' ? this.#directory : `${this.#directory}/${path}`
  }
}
