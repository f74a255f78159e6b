import { joinPath } from './file-paths.ts'
import type { PersonCall } from './person-run.ts'
import { headlineOf } from './words/person-words.ts'

/** An entry of a directory. */
export interface FileEntry {
  readonly name: string
  readonly type: 'file' | 'directory' | 'link' | 'other'
  /** Whether the content is protected, so that it cannot be read. */
  readonly isProtected?: boolean
}

/** The entries of a directory; `undefined` if it is gone. */
export interface FileListing {
  readonly entries: readonly FileEntry[] | undefined
  /** Why entries are missing, in a person's words. */
  readonly trouble?: string | undefined
}

/** Where a tree of files comes from. The path of the root is empty. */
export interface FilesSource {
  /** Lists a directory. */
  list(path: string): Promise<FileListing>
  /** Returns the type of an entry, or `undefined` when there is none. */
  typeOf(path: string): Promise<FileEntry['type'] | undefined>
}

/** Returns the files that the policy of a run shows. */
export function visibleFiles(call: PersonCall): FilesSource {
  return {
    async list(path) {
      const result = await call('list_directory', { path: path || '.', includeHidden: true, includeIgnored: true })
      if (!result.ok) return { entries: undefined, trouble: headlineOf(result) }
      const { entries, totalEntries, truncated } = result as unknown as Listed
      const trouble = `Not shown in ${path || 'the project'}: ${totalEntries - entries.length} more`
      return {
        entries: entries.map(({ path: of, type, readable }) => ({
          ...{ name: of.slice(path === '' ? 0 : joinPath(path, '').length), type },
          isProtected: readable === false,
        })),
        trouble: truncated ? trouble : undefined,
      }
    },
    async typeOf(path) {
      const result = await call('file_info', { path })
      // What cannot be read is there as well.
      if (!result.ok) return result.code === 'NOT_FOUND' ? undefined : 'other'
      return result.type as FileEntry['type']
    },
  }
}

interface Listed {
  readonly entries: readonly { readonly path: string; readonly type: FileEntry['type']; readonly readable?: false }[]
  readonly totalEntries: number
  readonly truncated: boolean
}
