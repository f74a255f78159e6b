import { ToolError } from '../../errors.ts'
import type { Visibility } from '../../guard/visibility.ts'
import { ancestorsOf, isWithin, nameOf, type Path, parentOf, quote, ROOT } from '../../paths/logical-path.ts'
import type { EntryState, EntryType } from '../../storage/backend.ts'
import type { CommandChange } from '../shared/apply-changes.ts'
import type { CommandFiles } from '../types.ts'
import { hasSecretMark, withBom, withoutBom } from './bom-forms.ts'
import type { WebContainer } from './client.ts'
import { containerCall } from './container-call.ts'
import {
  buildFileTree,
  type ContainerEntry,
  type ContainerTree,
  diffTrees,
  EXPORT_EXCLUDES,
  type FileTree,
  isContainerOwned,
  parseFileTree,
  sameContent,
} from './file-tree.ts'
import { readVisibleFiles, type VisibleEntry } from './visible-files.ts'

/** What a container holds of the workspace, as it is known here. */
export interface Mirror {
  /** The container holds what may be read, and nothing else but its own. @throws ToolError */
  sync(command: SyncOptions): Promise<void>
  /** What has changed in the container since. */
  changes(): Promise<readonly CommandChange[]>
  /**
   * Makes sure that the changes can be carried out on what is there now: nobody else has changed it since it was given to
   * the container, and what marks in it hide is known.
   *
   * @throws ToolError `WRITE_CONFLICT`
   */
  prepare(files: CommandFiles, made: readonly CommandChange[]): Promise<void>
  /** Some of these changes are the workspace's now; the others, and those that are not named, are put back. */
  settle(made: readonly CommandChange[], isKept: (path: Path) => boolean): Promise<void>
  /** A change that another call makes: the container follows. */
  follow(path: Path, state: EntryState): Promise<void>
  /** Whether the container did not do as it was told, so that nobody knows what it holds. */
  isLost(): boolean
}

export interface SyncOptions {
  readonly files: CommandFiles
  readonly visibility: Visibility
  readonly noteReadable?: ((path: Path) => void) | undefined
  readonly tree?: object | undefined
  /** Whether other commands run in the container, which may change at once what it is given. */
  readonly isShared: boolean
}

interface MirrorEntry {
  /** As the workspace shows it. */
  readonly content: ContainerEntry
  /** As an export tells it, where that is not the same; `null` where it does not tell of it. */
  readonly exported?: ContainerEntry | null
  readonly tag?: string
}

export interface MirrorOptions {
  readonly container: WebContainer
  /** The workspace's directory, below the container's working directory. It is there. */
  readonly directory: string
  /** Whether links can be mounted and come back as links. Without it they stay out of the container. */
  readonly links: boolean
  readonly maxBytes: number
}

/** Messages to the container that wait at the same time. */
const AT_ONCE = 32

export function createMirror({ container, directory, links, maxBytes }: MirrorOptions): Mirror {
  let entries = new Map<Path, MirrorEntry>()
  const unreadable = new Map<Path, string>()
  let isMounted = false
  let isLost = false
  let tree: object | undefined
  let isSeen: (path: Path, type?: EntryType) => boolean = () => true

  async function told<T>(what: string, promise: Promise<T>): Promise<T> {
    try {
      return await containerCall(what, promise)
    } catch (error) {
      isLost = true
      throw error
    }
  }

  const at = (path: string) => (path === '' ? directory : `${directory}/${path}`)

  /** What an export tells as long as nothing changes. */
  function baseline(): Map<Path, ContainerEntry> {
    const holding = new Map<Path, ContainerEntry>()
    for (const [path, { content: given, exported: is = given }] of entries) if (is !== null) holding.set(path, is)
    return holding
  }

  /** What it holds, told or not. */
  const all = (): ContainerTree => new Map([...entries].map(([path, { content: given }]) => [path, given]))

  /** Looks how the container tells what it was given. Only then a later difference is a change. */
  async function verify(paths: readonly Path[], isShared: boolean): Promise<void> {
    const given = new Set(paths.filter((path) => !isContainerOwned(path)))
    if (given.size === 0) return
    const holds = await exported()
    for (const [path, entry] of entries) {
      if (!given.has(path)) continue
      const is = holds.get(path) ?? null
      const { exported: _, ...same } = entry
      // What others do to it at once is a change, unless it is known for a form of the same.
      const isForm = is === null || !isShared || sameContent(is, withoutBom(entry.content))
      entries.set(path, sameContent(is, entry.content) || !isForm ? same : { ...same, exported: is })
    }
  }

  async function exported(): Promise<Map<Path, ContainerEntry>> {
    const tree = await told(
      'export its files',
      container.export(directory, { format: 'json', excludes: [...EXPORT_EXCLUDES] }),
    )
    return parseFileTree(tree as FileTree)
  }

  function known(path: Path, tag: string): ContainerEntry | 'unreadable' | undefined {
    if (unreadable.get(path) === tag) return 'unreadable'
    const entry = entries.get(path)
    return entry?.tag === tag ? entry.content : undefined
  }

  /** The first time everything is mounted at once. What the container then tells is what counts as unchanged. */
  async function mount(wanted: ReadonlyMap<Path, VisibleEntry>): Promise<void> {
    const whole = buildFileTree(new Map([...wanted].map(([path, one]) => [path, one.content])))
    await told('take the workspace', container.mount(whole, { mountPoint: directory }))
    const holds = await exported()
    // A tree may lose what its form has no place for, as odd names.
    const lost = [...wanted].filter(([path]) => !isContainerOwned(path) && !holds.has(path))
    await bring(
      holds,
      lost.map(([path, { content: to }]) => ({ path, to })),
    )
    for (const path of holds.keys()) if (!wanted.has(path)) await remove(path)
    for (const [path, { content: given, tag }] of wanted)
      entries.set(path, { content: given, ...(tag === undefined ? {} : { tag }) })
    await verify([...wanted.keys()], false)
    isMounted = true
  }

  const remove = (path: Path) => told('remove a file', container.fs.rm(at(path), { recursive: true, force: true }))

  /** Makes the container hold something else at some paths. */
  async function bring(now: ContainerTree, changes: readonly { path: Path; to: EntryState }[]): Promise<void> {
    const byPath = [...changes].sort((a, b) => (a.path < b.path ? -1 : 1))
    const removed: Path[] = []
    for (const { path, to } of byPath) {
      const there = now.get(path)
      if (there === undefined || there.type === to?.type || removed.some((above) => isWithin(path, above))) continue
      await remove(path)
      removed.push(path)
    }
    const isGone = (path: Path) => removed.some((above) => isWithin(path, above))
    const needed = new Set<Path>()
    for (const { path, to } of byPath) {
      if (to === null) continue
      const parent = to.type === 'directory' ? path : parentOf(path)
      if (parent !== ROOT && (isGone(parent) || now.get(parent)?.type !== 'directory')) needed.add(parent)
    }
    for (const path of needed) {
      await told('make a directory', container.fs.mkdir(at(path), { recursive: true }))
    }
    const writes = byPath.flatMap(({ path, to }) => (to?.type === 'file' ? [{ path, bytes: to.bytes }] : []))
    for (let i = 0; i < writes.length; i += AT_ONCE) {
      await Promise.all(
        writes
          .slice(i, i + AT_ONCE)
          .map(({ path, bytes }) => told('take a file', container.fs.writeFile(at(path), bytes))),
      )
    }
    for (const { path, to } of byPath) {
      if (to?.type !== 'link') continue
      // A link that leads elsewhere takes the place of the old one.
      if (now.get(path)?.type === 'link' && !isGone(path)) await remove(path)
      const link = { [nameOf(path)]: { file: { symlink: to.target } } }
      await told('take a link', container.mount(link, { mountPoint: at(parentOf(path)) }))
    }
  }

  /** A change as the workspace would have it: with the mark of its encoding, where only the container drops that. */
  function inOwnForm(change: CommandChange): CommandChange {
    const { path, after } = change
    const { content: given, exported: is } = entries.get(path) ?? {}
    if (given?.type !== 'file' || after?.type !== 'file' || !is || sameContent(given, is)) return change
    const dropsBom = sameContent(withoutBom(given), is) && sameContent(withoutBom(after), after)
    return dropsBom ? { ...change, after: { type: 'file', bytes: withBom(after.bytes) } } : change
  }

  /** Whether a path still is what the container was given. What is not to be seen is for the gate to refuse. */
  async function isAsGiven(files: CommandFiles, path: Path): Promise<boolean> {
    const stat = await files.stat(path, { noFollow: true }).catch(() => undefined)
    const entry = entries.get(path)
    if (stat === undefined || entry === undefined) return stat === entry || !isSeen(path, stat?.type)
    const { content: given } = entry
    if (stat.type !== given.type) return false
    if (given.type === 'directory' || stat.tag === entry.tag) return true
    const now: EntryState =
      stat.type === 'link'
        ? { type: 'link', target: await files.readLink(path) }
        : { type: 'file', bytes: await files.read(path) }
    return sameContent(now, given)
  }

  return {
    async sync({ files, visibility: sight, noteReadable: mayRead, tree: asked, isShared }) {
      // Of other files, equal tags mean nothing.
      if (asked !== tree) {
        for (const [path, { tag: _, ...entry }] of entries) entries.set(path, entry)
        unreadable.clear()
      }
      tree = asked
      isSeen = (path, type = 'file') => sight.see(path, type)
      const wanted = await readVisibleFiles({
        files,
        visibility: sight,
        cached: known,
        onUnreadable: (path, tag) => unreadable.set(path, tag),
        links,
        maxBytes,
      })
      if (mayRead !== undefined) {
        for (const [path, { content: is }] of wanted) if (is.type === 'file') mayRead(path)
      }
      if (!isMounted) return mount(wanted)
      const changes: { path: Path; to: EntryState }[] = []
      const next = new Map<Path, MirrorEntry>()
      for (const [path, { content: given, tag }] of wanted) {
        const entry = entries.get(path)
        const isThere = entry !== undefined && sameContent(entry.content, given)
        if (!isThere) changes.push({ path, to: given })
        next.set(path, { ...(isThere ? entry : { content: given }), ...(tag === undefined ? {} : { tag }) })
      }
      for (const path of entries.keys()) if (!wanted.has(path)) changes.push({ path, to: null })
      await bring(all(), changes)
      entries = next
      await verify(
        changes.filter(({ to }) => to !== null).map(({ path }) => path),
        isShared,
      )
    },

    async changes() {
      const made = diffTrees(baseline(), await exported())
      // A directory that was not told as long as nothing was in it.
      const isNew = ({ path, after }: CommandChange) =>
        after?.type !== 'directory' || entries.get(path)?.content.type !== 'directory'
      return made.filter(isNew).map(inOwnForm)
    },

    async prepare(files, made) {
      for (const { path } of made) {
        if (await isAsGiven(files, path)) continue
        throw new ToolError(
          'WRITE_CONFLICT',
          `Cannot keep what the command changed: ${quote(path)} is not what it was given`,
          {
            path,
            hint: 'Somebody else has changed it meanwhile, or a container cannot hold it. Look, and run the command again.',
          },
        )
      }
      // What a mark hides is known only to the files of the command that has read it.
      if (!made.some(({ after }) => hasSecretMark(after))) return
      for (const [path, { content: given }] of entries) {
        if (hasSecretMark(given)) await files.read(path).catch(() => {})
      }
    },

    async settle(made, isKept) {
      const now = new Map(all())
      for (const { path, after } of made) {
        if (after === null) now.delete(path)
        else now.set(path, after)
      }
      const back: { path: Path; to: EntryState }[] = []
      for (const { path, before, after } of made) {
        if (!isKept(path)) back.push({ path, to: entries.get(path)?.content ?? before })
        else if (after === null) entries.delete(path)
        else {
          const { exported: was } = entries.get(path) ?? {}
          const stripped = withoutBom(after)
          entries.set(path, { content: after, ...(was && !sameContent(stripped, after) ? { exported: stripped } : {}) })
        }
      }
      await bring(now, back)
    },

    isLost: () => isLost,

    async follow(path, state) {
      const there = entries.get(path)
      if (!isMounted || sameContent(there?.content ?? null, state)) return
      await bring(all(), [{ path, to: state }])
      for (const below of entries.keys()) {
        if (below !== path && isWithin(below, path) && state?.type !== 'directory') entries.delete(below)
      }
      if (state === null) entries.delete(path)
      else entries.set(path, { content: state })
      for (const above of state === null ? [] : ancestorsOf(path)) {
        if (above !== path && above !== ROOT && !entries.has(above))
          entries.set(above, { content: { type: 'directory' } })
      }
      if (state !== null) await verify([path], true)
    },
  }
}
