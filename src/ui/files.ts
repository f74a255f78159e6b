import { type Controller, ControllerState } from './controller.ts'
import { createPersonCall, type PersonCall, type PersonOptions } from './person-run.ts'
import { createRefresh } from './refresh.ts'
import { headlineOf } from './words/person-words.ts'

/** A visible row of the tree. */
export interface FileRow {
  readonly path: string
  readonly name: string
  /** 0 for the entries of the root. */
  readonly depth: number
  readonly type: 'file' | 'directory' | 'link' | 'other'
  /** Whether the entries of a directory are shown. */
  readonly isOpen: boolean
  /** Whether the content is protected, so that it cannot be read. */
  readonly isProtected: boolean
}

/** The state of {@link Files}. */
export interface FilesSnapshot {
  readonly rows: readonly FileRow[]
  readonly isLoading: boolean
  /** Why entries are missing, in a person's words, or `undefined` when none are. */
  readonly trouble: string | undefined
}

/** The files of a workspace as a tree, as far as its policy shows them. It follows changes. */
export interface Files extends Controller<FilesSnapshot> {
  /** Opens or closes a directory. */
  toggle(path: string): Promise<void>
  /** Lists the open directories again. */
  refresh(): Promise<void>
  /** Stops following changes. */
  close(): void
}

interface Listed {
  readonly path: string
  readonly type: FileRow['type']
  readonly readable?: false
}

interface Listing {
  readonly entries: readonly Listed[]
  readonly trouble?: string
}

const ROOT = '.'

/**
 * Creates the tree of files of a workspace.
 *
 * @example
 * const workspace = await createWorkspace({ backend: memory({ 'src/a.ts': '' }), policy: 'readOnly' })
 * const files = createFiles({ workspace })
 * await files.toggle('src')
 * console.log(files.snapshot.rows.map(({ path }) => path)) // ['src', 'src/a.ts']
 * files.close()
 */
export function createFiles(options: PersonOptions): Files {
  const call = createPersonCall('createFiles()', options)
  const state = new ControllerState<FilesSnapshot>({ rows: [], isLoading: true, trouble: undefined })
  const open = new Set([ROOT])
  const refresh = createRefresh(async () => {
    state.update({ isLoading: true })
    const listings = new Map<string, Listing>()
    for (const path of [...open]) listings.set(path, await list(call, path))
    const trouble = [...listings.values()].find((listing) => listing.trouble !== undefined)?.trouble
    state.update({ rows: rowsOf(listings, open, ROOT, 0), isLoading: false, trouble })
  })
  const unsubscribe = options.workspace.subscribe((event) => {
    if (event.type === 'changed' && event.listing) void refresh()
  })
  void refresh()
  return {
    get snapshot() {
      return state.snapshot
    },
    subscribe: state.subscribe,
    toggle(path) {
      if (!open.delete(path)) open.add(path)
      return refresh()
    },
    refresh,
    close: unsubscribe,
  }
}

async function list(call: PersonCall, path: string): Promise<Listing> {
  const result = await call('list_directory', { path, includeHidden: true, includeIgnored: true })
  // A directory that is gone has no rows.
  if (!result.ok) return { entries: [], ...(path === ROOT ? { trouble: headlineOf(result) } : {}) }
  const { entries, totalEntries, truncated } = result as unknown as {
    readonly entries: readonly Listed[]
    readonly totalEntries: number
    readonly truncated: boolean
  }
  const trouble = `${totalEntries - entries.length} entries of ${path === ROOT ? 'the project' : path} are not shown`
  return { entries, ...(truncated ? { trouble } : {}) }
}

function rowsOf(
  listings: ReadonlyMap<string, Listing>,
  open: ReadonlySet<string>,
  directory: string,
  depth: number,
): readonly FileRow[] {
  const entries = [...(listings.get(directory)?.entries ?? [])]
  const rank = ({ type }: Listed) => (type === 'directory' ? 0 : 1)
  entries.sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1))
  return entries.flatMap(({ path, type, readable }) => {
    const isOpen = type === 'directory' && open.has(path)
    const name = path.slice(path.lastIndexOf('/') + 1)
    const row: FileRow = { path, name, depth, type, isOpen, isProtected: readable === false }
    return isOpen ? [row, ...rowsOf(listings, open, path, depth + 1)] : [row]
  })
}
