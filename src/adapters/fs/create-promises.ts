import type { FileHandle } from './file-handle.ts'
import type { OpenFiles } from './open-files.ts'
import { createMetadata, createReads, createWrites, type FsMetadata, type FsReads, type FsWrites } from './promises.ts'
import type { FsTarget } from './target.ts'
import { createDirectories, createTransfers, type FsDirectories, type FsTransfers } from './trees.ts'

/** The functions of `fs.promises`. */
export type FsPromises = FsReads & FsWrites & FsMetadata & FsDirectories & FsTransfers

/** Creates the functions of `fs.promises`. */
export function createPromises(target: FsTarget, open: OpenFiles<FileHandle>): FsPromises {
  return {
    ...createReads(target),
    ...createWrites(target, open),
    ...createMetadata(target),
    ...createDirectories(target),
    ...createTransfers(target),
  }
}
