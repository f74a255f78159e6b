import type { Backend } from 'wardspace'
import type { GithubAddress } from './github-address.ts'

/** Where a project's files are stored: in this tab only, in the browser's private storage, or in a picked folder. */
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

/** A project that the browser has removed. */
export type LostProject = Pick<ProjectInfo, 'id' | 'name'>

/** A file to import or export. */
export interface ProjectFile {
  readonly path: string
  readonly bytes: Uint8Array
  /** Permission bits, if the source has them. */
  readonly mode?: number
  /** The target of a symbolic link. */
  readonly target?: string
  /** Set for an empty directory. Other directories follow from the paths of their files. */
  readonly isDirectory?: true
}

/** The source of a new project. */
export type ProjectSource =
  | { readonly kind: 'empty' }
  | { readonly kind: 'sample'; readonly id: string }
  /** `maxBytes` bounds the unpacked files. */
  | { readonly kind: 'zip'; readonly file: Blob; readonly maxBytes?: number }
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
  /** The files of a commit by GitHub's API, without history. A token reaches private repositories, and is not kept. */
  | ({ readonly kind: 'github'; readonly token?: string } & GithubAddress)
  | { readonly kind: 'directory'; readonly handle: FileSystemDirectoryHandle }

export interface ProjectOptions {
  readonly name: string
  /** Ignored for a picked folder, whose files stay where they are. */
  readonly storage: Storage
}

/** Progress of a long operation: `done` of `total` units. */
export interface Progress {
  /** Description for people, such as `Unpacking`. */
  readonly phase: string
  readonly done: number
  /** Missing while it is unknown. */
  readonly total?: number
}

/** Follows and cancels a long operation. */
export interface Task {
  readonly onProgress?: (progress: Progress) => void
  /** The operation rejects with the signal's reason and removes its partial result. */
  readonly signal?: AbortSignal
}

/** A new project, and warnings about files that it could not contain. */
export interface Created {
  readonly info: ProjectInfo
  /** One sentence per file, such as a name that the guard refuses or an encrypted file. */
  readonly warnings: readonly string[]
}

/** Stores data beside a project's files: conversation, timeline and checkpoints. */
export interface ByteStore {
  /** Returns the value that was saved under a name, or `undefined`. */
  load<T>(name: string): Promise<T | undefined>
  /** Saves a value as JSON, completely or not at all. Pending saves of one name are merged into one. */
  save(name: string, value: unknown): Promise<void>
  loadBytes(name: string): Promise<Uint8Array | undefined>
  saveBytes(name: string, bytes: Uint8Array): Promise<void>
  remove(name: string): Promise<void>
  names(): Promise<readonly string[]>
  /** Resolves when all pending saves are written. */
  settled(): Promise<void>
  /** Keeps what is being saved for the next page, before this one goes away. */
  handOver(): void
}

/** An event about the same project in another tab, or about its storage. */
export type Elsewhere =
  /** The other tab changed files. */
  | { readonly kind: 'changed'; readonly paths: readonly string[] | 'many' }
  /** The other tab took the project over. From now on, this tab may only read. */
  | { readonly kind: 'taken' }
  /** The other tab released the project. This tab may open it again to write. */
  | { readonly kind: 'free' }
  /** The browser has removed the storage of the project. This tab still has the files. */
  | { readonly kind: 'lost' }

export interface OpenProject {
  readonly info: ProjectInfo
  /** Refuses all changes while another tab writes the project. */
  readonly backend: Backend
  readonly kept: ByteStore
  /** False while another tab holds the project. This tab then shows it and writes nothing. */
  readonly writable: boolean
  /** Subscribes to events of other tabs. Returns an unsubscribe function. */
  onElsewhere(listener: (event: Elsewhere) => void): () => void
  close(): Promise<void>
}

export interface Projects {
  /** Lists the projects of this tab and the stored ones, the most recently opened first. */
  list(): Promise<readonly ProjectInfo[]>
  /** Lists the projects that the browser has removed, until they are forgotten. */
  lost(): Promise<readonly LostProject[]>
  forget(id: string): void
  create(source: ProjectSource, options: ProjectOptions, task?: Task): Promise<Created>
  /**
   * Opens a project. If another tab holds it, it is opened read-only, unless `takeOver` is set: then the other tab saves
   * its state, releases the project, and only reads it from then on.
   */
  open(id: string, options?: { readonly takeOver?: boolean }): Promise<OpenProject>
  rename(id: string, name: string): Promise<void>
  /** Copies the files of a project into a new one. Conversation, timeline and history stay with the original. */
  duplicate(id: string, name: string, task?: Task): Promise<Created>
  /** Removes a project and all data stored beside it. The files of a picked folder stay. */
  remove(id: string): Promise<void>
}

/** A sample project. */
export interface Sample {
  readonly id: string
  readonly title: string
  readonly summary: string
  /** Loads the files: text by path. */
  files(): Promise<Readonly<Record<string, string>>>
}
