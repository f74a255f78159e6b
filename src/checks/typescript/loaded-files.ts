import type { CheckFiles } from '../../call/state/checks.ts'
import { ToolError } from '../../errors.ts'
import type { Compiler, FileHost } from './api.ts'

/** The directory in which the compiler finds its own declarations. No path of a workspace has such a name. */
export const LIB = '/typescript:lib'

type Kind = 'file' | 'directory'

interface LoadedText {
  readonly version: string
  readonly text: string
}

/** Yields to the event loop, and throws when the time of the check has ended. */
export type Pace = () => Promise<void>

/** Returns the text of a file of the package typescript, such as `lib.es2022.d.ts`. */
export type ReadLib = (name: string) => unknown

/**
 * What a compiler, whose lookups are synchronous, sees of the files of a check. A lookup of something that is not loaded finds
 * nothing and is remembered: load it, and look again. Paths start with `/`, the root of the workspace.
 */
export class LoadedFiles {
  /** Increases when names or configuration files change, so that modules may resolve to other files. */
  revision = 0
  readonly #readLib: ReadLib
  /** The entries of the directories; of absent ones, nothing. */
  readonly #directories = new Map<string, Map<string, Kind>>()
  /** Of files of the compiler that do not exist, nothing. */
  readonly #texts = new Map<string, LoadedText | undefined>()
  /** Paths whose existence was asked for, and files whose text was. */
  readonly #missedPaths = new Set<string>()
  readonly #missedTexts = new Set<string>()

  constructor(readLib: ReadLib) {
    this.#readLib = readLib
  }

  get isComplete(): boolean {
    return this.#missedPaths.size === 0 && this.#missedTexts.size === 0
  }

  /** Returns the functions of a host of the compiler. */
  host({ matchFiles }: Pick<Compiler, 'matchFiles'>): FileHost {
    const entriesOf = (path: string) => {
      const entries = [...(this.#entries(path) ?? [])]
      const names = (kind: Kind) => entries.filter((entry) => entry[1] === kind).map(([name]) => name)
      return { files: names('file'), directories: names('directory') }
    }
    return {
      useCaseSensitiveFileNames: true,
      fileExists: (path) => (isLib(path) ? this.textOf(path) !== undefined : this.#kindOf(path) === 'file'),
      readFile: (path) => this.textOf(path)?.text,
      directoryExists: (path) => (isLib(path) ? path === LIB : this.#kindOf(path) === 'directory'),
      getDirectories: (path) => entriesOf(path).directories,
      readDirectory: (path, extensions, excludes, includes, depth) =>
        matchFiles(path, extensions, excludes, includes, true, '/', depth, entriesOf, (real) => real),
    }
  }

  /** Returns the text of a file. */
  textOf(path: string): LoadedText | undefined {
    const text = this.#texts.get(path)
    if (text !== undefined) return text
    if (!this.#texts.has(path) && (isLib(path) || this.#kindOf(path) === 'file')) this.#missedTexts.add(path)
    return undefined
  }

  /** Brings everything that is loaded to the present state. What is no longer read stays labelled for the run that reads it. */
  async refresh(files: CheckFiles, pace: Pace): Promise<void> {
    for (const [path, before] of this.#directories) {
      await pace()
      const entries = await entriesIn(files, path)
      if (sameEntries(before, entries)) continue
      this.#directories.set(path, entries)
      this.revision += 1
    }
    for (const [path, before] of this.#texts) {
      await pace()
      if (isLib(path)) continue
      const version = await files.versionOf(path.slice(1))
      if (version === before?.version) continue
      if (version === undefined) this.#texts.delete(path)
      else await this.#load(files, path, version)
      if (path.endsWith('.json')) this.revision += 1
    }
  }

  /** Loads what lookups have missed. */
  async loadMissed(files: CheckFiles, pace: Pace): Promise<void> {
    const paths = [...this.#missedPaths]
    const texts = [...this.#missedTexts]
    this.#missedPaths.clear()
    this.#missedTexts.clear()
    if (paths.length > 0) this.revision += 1
    for (const path of paths) {
      await pace()
      await this.#loadParents(files, path)
    }
    for (const path of texts) {
      await pace()
      if (isLib(path)) {
        const text = await this.#readLib(path.slice(LIB.length + 1))
        this.#texts.set(path, typeof text === 'string' ? { version: 'lib', text } : undefined)
      } else {
        const version = await files.versionOf(path.slice(1))
        if (version !== undefined) await this.#load(files, path, version)
      }
    }
  }

  /** Lists the directories above a path, as far as they exist. */
  async #loadParents(files: CheckFiles, path: string): Promise<void> {
    let above: Map<string, Kind> | undefined
    for (let end = 0; end !== -1; end = path.indexOf('/', end + 1)) {
      const directory = path.slice(0, end) || '/'
      if (above !== undefined && above.get(nameOf(directory)) !== 'directory') return
      above = this.#directories.get(directory) ?? (await entriesIn(files, directory))
      this.#directories.set(directory, above)
    }
  }

  async #load(files: CheckFiles, path: string, version: string): Promise<void> {
    let text = ''
    try {
      text = await files.readText(path.slice(1))
    } catch (error) {
      // What is no text or too large counts as empty.
      if (!(error instanceof ToolError) || error.code === 'ABORTED') throw error
    }
    this.#texts.set(path, { version, text })
  }

  /** Returns what is at a path, found by the listings of the directories above it. */
  #kindOf(path: string): Kind | undefined {
    const end = path.endsWith('/') ? path.length - 1 : path.length
    if (end === 0) return 'directory'
    for (let start = 0; ; ) {
      const entries = this.#directories.get(path.slice(0, start) || '/')
      if (entries === undefined) {
        this.#missedPaths.add(path.slice(0, end))
        return undefined
      }
      const slash = path.indexOf('/', start + 1)
      const isLast = slash === -1 || slash >= end
      const kind = entries.get(path.slice(start + 1, isLast ? end : slash))
      if (isLast || kind !== 'directory') return isLast ? kind : undefined
      start = slash
    }
  }

  #entries(directory: string): Map<string, Kind> | undefined {
    const entries = this.#directories.get(directory)
    if (entries === undefined) this.#kindOf(directory === '/' ? '/?' : `${directory}/?`)
    return entries
  }
}

function isLib(path: string): boolean {
  return path.startsWith(LIB)
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** A link counts as what it leads to. */
async function entriesIn(files: CheckFiles, directory: string): Promise<Map<string, Kind>> {
  const below = directory === '/' ? '' : `${directory.slice(1)}/`
  const entries = new Map<string, Kind>()
  for (const { name, type } of await files.entries(below === '' ? '.' : below.slice(0, -1))) {
    if (type === 'file' || type === 'directory') entries.set(name, type)
    else if (type === 'link') {
      entries.set(name, (await files.versionOf(`${below}${name}`)) === undefined ? 'directory' : 'file')
    }
  }
  return entries
}

function sameEntries(a: Map<string, Kind>, b: Map<string, Kind>): boolean {
  return a.size === b.size && [...a].every(([name, kind]) => b.get(name) === kind)
}
