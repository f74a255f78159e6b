import type { Backend } from 'wardspace'

/** Where a project's files live: in this tab only, in the browser's private storage, or in a folder that a person picked. */
export type Storage = 'memory' | 'opfs' | 'directory'

/** A project in the list of projects. */
export interface ProjectInfo {
  readonly id: string
  readonly name: string
  readonly storage: Storage
  /** The sample it was made from. */
  readonly sample?: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly openedAt: number
}

/** One file on its way into or out of a project. */
export interface ProjectFile {
  readonly path: string
  readonly bytes: Uint8Array
  /** Permission bits, where what it comes from keeps them. */
  readonly mode?: number
  /** Where it is a link: what it names. */
  readonly target?: string
  /** An empty directory; others come with what is in them. */
  readonly isDirectory?: true
}

/** What a new project is made from. */
export type ProjectSource =
  | { readonly kind: 'empty' }
  | { readonly kind: 'sample'; readonly id: string }
  | { readonly kind: 'zip'; readonly file: Blob }
  | {
      readonly kind: 'files'
      readonly files: AsyncIterable<ProjectFile> | Iterable<ProjectFile>
      readonly total?: number
    }
  | {
      readonly kind: 'git'
      readonly url: string
      readonly corsProxy?: string
      readonly ref?: string
      readonly depth?: number
    }
  | { readonly kind: 'directory'; readonly handle: FileSystemDirectoryHandle }

export interface ProjectOptions {
  readonly name: string
  /** Ignored for a picked folder, whose files stay where they are. */
  readonly storage: Storage
}

/** How far something long is: `done` of `total`, in whatever it counts. */
export interface Progress {
  /** What is being done, for people: `Unpacking`. */
  readonly phase: string
  readonly done: number
  /** Left out while it is not known. */
  readonly total?: number
}

/** How to follow something long and to end it. */
export interface Task {
  readonly onProgress?: (progress: Progress) => void
  /** Rejects with the signal's reason, and what was half made is taken away. */
  readonly signal?: AbortSignal
}

/** A project that was made, and what could not be taken into it. */
export interface Created {
  readonly info: ProjectInfo
  /** One sentence each: a name that the guard refuses, an encrypted file. */
  readonly warnings: readonly string[]
}

/** What stands beside a project's files, never among them: conversation, timeline, checkpoints. */
export interface ByteStore {
  /** What was saved under a name; `undefined` where nothing was. */
  load<T>(name: string): Promise<T | undefined>
  /** Saves JSON under a name, whole or not at all. Saves of one name that are waiting become one. */
  save(name: string, value: unknown): Promise<void>
  loadBytes(name: string): Promise<Uint8Array | undefined>
  saveBytes(name: string, bytes: Uint8Array): Promise<void>
  remove(name: string): Promise<void>
  names(): Promise<readonly string[]>
  /** Resolves when all that was asked to be saved is. */
  settled(): Promise<void>
}

/** What another tab did with the same project. */
export type Elsewhere =
  /** Its files were changed. */
  | { readonly kind: 'changed'; readonly paths: readonly string[] | 'many' }
  /** It took the project over: this tab may only read from now on. */
  | { readonly kind: 'taken' }
  /** It let go of the project: whoever reads it here may open it again to write. */
  | { readonly kind: 'free' }

export interface OpenProject {
  readonly info: ProjectInfo
  /** Refuses every change while another tab is the one that writes. */
  readonly backend: Backend
  readonly kept: ByteStore
  /** False where another tab holds the project, from `taken` on: this one shows it, and writes nothing. */
  readonly writable: boolean
  /** Told of what another tab does; gives what ends it. */
  onElsewhere(listener: (event: Elsewhere) => void): () => void
  close(): Promise<void>
}

export interface Projects {
  /** Those of this tab and those that are stored, the one that was opened last first. */
  list(): Promise<readonly ProjectInfo[]>
  create(source: ProjectSource, options: ProjectOptions, task?: Task): Promise<Created>
  /**
   * Opens a project. Where another tab holds it, it is opened for reading, unless `takeOver`: then that tab saves what it
   * has, lets go, and reads from then on.
   */
  open(id: string, options?: { readonly takeOver?: boolean }): Promise<OpenProject>
  rename(id: string, name: string): Promise<void>
  /** Takes away a project and all that was kept beside it. The files of a picked folder stay. */
  remove(id: string): Promise<void>
}

/** A sample project: its files and what it is for. */
export interface Sample {
  readonly id: string
  readonly title: string
  readonly summary: string
  /** Text by path. Loaded when it is asked for. */
  files(): Promise<Readonly<Record<string, string>>>
}
