import type { EncodingOption, FsEncoding } from './encoding.ts'
import type { FileHandle } from './file-handle.ts'
import type { OpenFiles } from './open-files.ts'
import type { FsPath } from './paths.ts'
import { createMetadata, createReads, createWrites, type FsMetadata, type FsReads, type FsWrites } from './promises.ts'
import type { Dirent } from './stats.ts'
import type { FsTarget } from './target.ts'
import { createDirectories, createTransfers, type FsDirectories, type FsTransfers } from './trees.ts'

/** Options of `readFile`. */
export interface ReadFileOptions {
  readonly flag?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Reads a file: as text with an encoding, and as bytes without one. */
export interface ReadFile {
  (
    path: FsPath | FileHandle,
    options?: null | (ReadFileOptions & { readonly encoding?: 'buffer' | null | undefined }),
  ): Promise<Uint8Array>
  (
    path: FsPath | FileHandle,
    options: FsEncoding | (ReadFileOptions & { readonly encoding: FsEncoding }),
  ): Promise<string>
  (
    path: FsPath | FileHandle,
    options?: EncodingOption | (ReadFileOptions & { readonly encoding?: string | null | undefined }),
  ): Promise<Uint8Array | string>
}

/** Options of `readdir`. */
export interface ReadDirectoryOptions {
  readonly encoding?: string | null | undefined
  readonly recursive?: boolean | undefined
}

/** Reads the names in a directory, or its entries. */
export interface ReadDirectory {
  (path: FsPath, options: ReadDirectoryOptions & { readonly withFileTypes: true }): Promise<Dirent[]>
  (
    path: FsPath,
    options?: EncodingOption | (ReadDirectoryOptions & { readonly withFileTypes?: false | undefined }),
  ): Promise<string[]>
  (
    path: FsPath,
    options: ReadDirectoryOptions & { readonly withFileTypes?: boolean | undefined },
  ): Promise<string[] | Dirent[]>
}

/** The functions of `fs.promises`. */
export type FsPromises = Omit<FsReads, 'readFile' | 'readdir' | 'readlink' | 'realpath'> & {
  /** Returns the target of a link, as it is written. */
  readonly readlink: (path: FsPath, options?: EncodingOption) => Promise<string>
  /** Returns the path that links lead to. */
  readonly realpath: (path: FsPath, options?: EncodingOption) => Promise<string>
  readonly readFile: ReadFile
  readonly readdir: ReadDirectory
} & FsWrites &
  FsMetadata &
  FsDirectories &
  FsTransfers

/** Creates the functions of `fs.promises`. */
export function createPromises(target: FsTarget, open: OpenFiles<FileHandle>): FsPromises {
  const functions = {
    ...createReads(target, open),
    ...createWrites(target, open),
    ...createMetadata(target),
    ...createDirectories(target, open),
  }
  return { ...functions, ...createTransfers(target, functions) } as unknown as FsPromises
}
