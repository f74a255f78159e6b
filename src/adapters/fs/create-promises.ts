import type { OpenFiles } from './open-files.ts'
import { createReads, createWrites, type FsReads, type FsWrites } from './promises.ts'
import type { FsTarget } from './target.ts'
import { createDirectories, createTransfers, type FsDirectories, type FsTransfers } from './trees.ts'

/** The functions of `fs.promises`. */
export type FsPromises = FsReads & FsWrites & FsDirectories & FsTransfers

/** Creates the functions of `fs.promises`. */
export function createPromises(target: FsTarget, open: OpenFiles): FsPromises {
  return {
    ...createReads(target),
    ...createWrites(target, open),
    ...createDirectories(target),
    ...createTransfers(target),
  }
}
