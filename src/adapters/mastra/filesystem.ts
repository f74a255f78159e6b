import { ToolError } from '../../errors.ts'
import type { ToolOutput } from '../../tools/index.ts'
import {
  isAnything,
  isBoolean,
  isObjectWith,
  isOneOrMore,
  isPositive,
  isText,
  type OptionTable,
  refuseSurplus,
} from '../../util/check-options.ts'
import type { FileStat } from '../../workspace/files.ts'
import { decoded, encodingOf } from '../fs/encoding.ts'
import { Stats } from '../fs/stats.ts'
import { isErrorClass } from '../sandbox/error-class.ts'
import { optionsAt, withMethodOptions } from '../sandbox/method-options.ts'
import {
  hasCode,
  type OpenTarget,
  openTarget,
  type SandboxOptions,
  type SandboxTarget,
  sandboxTable,
  withText,
} from '../sandbox/target.ts'

/** Options of {@link mastraFilesystem}. */
export interface MastraFilesystemOptions extends SandboxOptions {
  /** `FileNotFoundError` of `@mastra/core/workspace`. Mastra's tools recognize a missing file by this class. */
  readonly FileNotFoundError: new (
    path: string,
  ) => Error
}

/** A `Buffer`, where the types of Node are. */
type NodeBuffer = typeof globalThis extends { Buffer: { prototype: infer B } } ? B : Uint8Array

/** An entry of a directory. */
export interface MastraFileEntry {
  name: string
  type: 'file' | 'directory'
  isSymlink?: boolean
}

/** A search of Mastra's tool. */
export interface MastraGrep {
  /** A regular expression, without look-around and back-references. */
  readonly pattern: string
  readonly path: string
  readonly caseSensitive: boolean
  readonly includeHidden: boolean
  readonly maxCountPerFile?: number
  readonly maxTotalMatches?: number
  readonly contextLines?: number
}

/** `WorkspaceFilesystem` of Mastra. A refusal rejects with its code and hint as the message. */
export interface MastraFilesystem {
  readonly id: string
  readonly name: string
  readonly provider: string
  status: 'ready'
  /** Returns what an agent should know. */
  getInstructions(): string
  /** Returns text in an encoding of Node, or a `Buffer`. */
  readFile(path: string, options?: { readonly encoding?: string }): Promise<string | NodeBuffer>
  /** Creates or replaces a file. With `expectedMtime`, only one that did not change since. */
  writeFile(
    path: string,
    content: string | Uint8Array,
    options?: { readonly recursive?: boolean; readonly overwrite?: boolean; readonly expectedMtime?: Date },
  ): Promise<void>
  /** Adds to the end of a file, or creates it. */
  appendFile(path: string, content: string | Uint8Array): Promise<void>
  /** Deletes a file. */
  deleteFile(path: string, options?: { readonly force?: boolean }): Promise<void>
  /** Copies a file or a directory. */
  copyFile(source: string, target: string, options?: { readonly overwrite?: boolean }): Promise<void>
  /** Moves a file or a directory. */
  moveFile(source: string, target: string, options?: { readonly overwrite?: boolean }): Promise<void>
  /** Creates a directory, by default with its parents. */
  mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void>
  /** Deletes a directory. */
  rmdir(path: string, options?: { readonly recursive?: boolean; readonly force?: boolean }): Promise<void>
  /** Lists a directory. Names of a recursive list are paths below it. */
  readdir(
    path: string,
    options?: { readonly recursive?: boolean; readonly extension?: string | string[]; readonly maxDepth?: number },
  ): Promise<MastraFileEntry[]>
  /** Finds lines by a regular expression, in time linear in the text. */
  grep(options: MastraGrep): Promise<
    {
      path: string
      matches: { line: number; column: number; text: string; before: string[]; after: string[] }[]
    }[]
  >
  /** Whether something is at a path. */
  exists(path: string): Promise<boolean>
  /** Returns the metadata of an entry, following links. */
  stat(path: string): Promise<{
    name: string
    path: string
    type: 'file' | 'directory'
    size: number
    createdAt: Date
    modifiedAt: Date
  }>
}

const table: OptionTable<MastraFilesystemOptions> = { ...sandboxTable, FileNotFoundError: isErrorClass }

/** The checks of the options of each method. The workspace itself checks the limits of a search. */
const methodOptions = {
  readFile: optionsAt(1, { encoding: isText }),
  writeFile: optionsAt(2, {
    ...{ recursive: isBoolean, overwrite: isBoolean, expectedMtime: isObjectWith('a Date', 'getTime') },
  }),
  ...{ deleteFile: optionsAt(1, { force: isBoolean }), mkdir: optionsAt(1, { recursive: isBoolean }) },
  ...{ copyFile: optionsAt(2, { overwrite: isBoolean }), moveFile: optionsAt(2, { overwrite: isBoolean }) },
  rmdir: optionsAt(1, { recursive: isBoolean, force: isBoolean }),
  readdir: optionsAt(1, { recursive: isBoolean, extension: isOneOrMore(isText), maxDepth: isAnything }),
  grep: optionsAt<MastraGrep>(
    0,
    {
      ...{ pattern: isText, path: isText, caseSensitive: isBoolean, includeHidden: isBoolean },
      ...{ maxCountPerFile: isPositive, maxTotalMatches: isAnything, contextLines: isAnything },
    },
    'pattern',
    'path',
  ),
}

/**
 * Returns the files of a workspace or a run as a filesystem of Mastra, for `new Workspace({ filesystem })` of `@mastra/core` 1. `/` and
 * relative paths start at the root of the workspace, and so does `root`, if it is given. Each method is one call with guard, policy,
 * approval, audit and undo.
 *
 * @throws TypeError for anything but a workspace or a run, and for wrong options
 * @example
 * class FileNotFoundError extends Error {} // import it from '@mastra/core/workspace'
 * const filesystem = mastraFilesystem(workspace, { FileNotFoundError })
 * const text = await filesystem.readFile('src/app.ts', { encoding: 'utf8' })
 */
export function mastraFilesystem(target: SandboxTarget, options: MastraFilesystemOptions): MastraFilesystem {
  refuseSurplus('mastraFilesystem()', 2, arguments)
  const open = openTarget('mastraFilesystem()', target, options, table, '/')
  if (open.given.FileNotFoundError === undefined) {
    throw new TypeError('mastraFilesystem() needs FileNotFoundError of @mastra/core/workspace')
  }
  const methods: MastraFilesystem = {
    ...{ id: 'wardspace', name: 'wardspace', provider: 'wardspace', status: 'ready' },
    getInstructions: () =>
      'Paths are relative to the root of the workspace. Some operations are refused: the error says why and what to do.',
    ...reads(open),
    ...writes(open),
  }
  return withMethodOptions('mastraFilesystem()', methods, methodOptions)
}

type Opened = OpenTarget & { readonly given: MastraFilesystemOptions }

/** Runs an operation on a path. What is missing is Mastra's own error. */
function on<T>(open: Opened, path: string, act: (path: string) => Promise<T>): Promise<T> {
  return withText(open, undefined, async () => {
    try {
      return await act(open.rooted(path))
    } catch (error) {
      throw hasCode(error, 'NOT_FOUND') ? new open.given.FileNotFoundError(path) : error
    }
  })
}

function reads(open: Opened): Pick<MastraFilesystem, 'readFile' | 'readdir' | 'grep' | 'exists' | 'stat'> {
  const { files } = open
  return {
    readFile: (path, options) =>
      on(open, path, async (at) => decoded(await files.readBytes(at), encodingOf(options)) as string | NodeBuffer),
    readdir: (path, { recursive = false, extension, maxDepth } = {}) =>
      on(open, path, async (at) => {
        const found: MastraFileEntry[] = []
        const add = (name: string, type: FileStat['type']) =>
          found.push({ name, type: type === 'directory' ? type : 'file', ...(type === 'link' && { isSymlink: true }) })
        if (recursive) {
          const skip = (await files.realPath(at)).replace(/^\.$/, '').length
          const depth = maxDepth === undefined ? {} : { maxDepth }
          for await (const entry of files.walk(at, depth)) add(entry.path.slice(skip && skip + 1), entry.type)
        } else for (const { name, type } of await files.entries(at)) add(name, type)
        const endings = extension === undefined ? [] : [extension].flat().map((each) => `.${each.replace(/^\./, '')}`)
        if (endings.length === 0) return found
        return found.filter(({ name, type }) => type === 'directory' || endings.some((each) => name.endsWith(each)))
      }),
    grep: ({ pattern: query, path, maxCountPerFile, maxTotalMatches: maxMatches, ...options }) =>
      on(open, path, async (at) => {
        const limit = maxMatches === undefined ? {} : { maxMatches }
        const input = { query, mode: 'regex', path: at, ...limit, ...options }
        const { matches } = (await open.call('search_text', input)) as unknown as ToolOutput<'search_text'>
        const byFile = new Map<string, typeof matches>()
        for (const match of matches) byFile.set(match.path, [...(byFile.get(match.path) ?? []), match])
        const shown = (file: string) => (path.startsWith('/') ? open.outward(file) : file)
        return [...byFile].map(([file, own]) => ({
          path: shown(file),
          matches: own
            .slice(0, maxCountPerFile)
            .map(({ line, column, snippet: text, before, after }) => ({ line, column, text, before, after })),
        }))
      }),
    exists: (path) => on(open, path, (at) => files.exists(at)),
    stat: (path) =>
      on(open, path, async (at) => {
        const stat = await files.stat(at)
        if (stat === undefined) throw new open.given.FileNotFoundError(path)
        const { size, mtime, birthtime } = new Stats(stat)
        const type = stat.type === 'directory' ? stat.type : 'file'
        return { name: path.split('/').at(-1) ?? '', path, type, size, createdAt: birthtime, modifiedAt: mtime }
      }),
  }
}

function writes(
  open: Opened,
): Pick<MastraFilesystem, 'writeFile' | 'appendFile' | 'deleteFile' | 'copyFile' | 'moveFile' | 'mkdir' | 'rmdir'> {
  const { files, rooted } = open
  const remove = (path: string, isDirectory: boolean, { force = false, recursive = false } = {}) =>
    on(open, path, async (at) => {
      const stat = await files.stat(at, { noFollow: true })
      if (stat === undefined && force) return
      if (stat !== undefined && (stat.type === 'directory') !== isDirectory) throw wrongType(at, isDirectory)
      await files.delete(at, { recursive })
    })
  return {
    writeFile: (path, content, { recursive: createParents = true, overwrite = true, expectedMtime } = {}) =>
      on(open, path, async (at) => {
        if (expectedMtime !== undefined) {
          const stat = await files.stat(at)
          if (stat !== undefined && new Stats(stat).mtimeMs !== expectedMtime.getTime()) throw changed(at)
        }
        await files.write(at, content, { createParents, ...(!overwrite && { expectedSha256: null }) })
      }),
    appendFile: (path, content) => on(open, path, async (at) => void (await files.append(at, content))),
    deleteFile: (path, options) => remove(path, false, options),
    rmdir: (path, options) => remove(path, true, options),
    copyFile: (source, target, { overwrite = true } = {}) =>
      on(open, source, (at) => files.copy(at, rooted(target), { overwrite })),
    moveFile: (source, target, { overwrite = true } = {}) =>
      on(open, source, (at) => files.rename(at, rooted(target), { overwrite })),
    mkdir: (path, { recursive = true } = {}) => on(open, path, (at) => files.makeDirectory(at, { recursive })),
  }
}

function wrongType(path: string, isDirectory: boolean): ToolError {
  const [code, what] = isDirectory ? (['NOT_A_DIRECTORY', 'no'] as const) : (['IS_DIRECTORY', 'a'] as const)
  return new ToolError(code, `Cannot delete ${JSON.stringify(path)}: it is ${what} directory`, { path })
}

function changed(path: string): ToolError {
  return new ToolError('WRITE_CONFLICT', `${JSON.stringify(path)} has changed since it was read`, { path })
}
