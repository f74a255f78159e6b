import { createFs, type FsOptions, type StreamModule } from '../../src/adapters/fs/index.ts'
import { type Backend, createWorkspace } from '../../src/index.ts'
import type { LibraryContext, LibraryRow } from './library-rows.ts'

/** A storage on which libraries run. */
export interface LibraryStorage {
  readonly hasSync?: boolean
  /** Opens a new storage with files. */
  open(files: Readonly<Record<string, string>>): Promise<{ readonly backend: Backend; remove(): unknown }>
}

/** What the platform gives the cases. */
export interface LibraryPlatform extends Partial<Pick<LibraryContext, 'remote'>>, Pick<LibraryContext, 'load'> {
  /** The classes of streams, where there is no `node:stream`. */
  readonly stream?: StreamModule
}

/** What became of the cases of a library on a storage. */
export interface LibraryResult {
  readonly passed: number
  readonly failed: readonly string[]
  readonly leftOut: readonly string[]
}

/** Runs the cases of a row on a storage. */
export async function runLibrary(
  row: LibraryRow,
  storage: LibraryStorage,
  { load, remote, stream }: LibraryPlatform,
): Promise<LibraryResult> {
  let passed = 0
  const failed: string[] = []
  const leftOut: string[] = []
  const options = (stream === undefined ? {} : { stream }) as FsOptions
  for (const [name, run] of Object.entries(row.cases)) {
    const reason = reasonAgainst(row, name, storage.hasSync, remote !== undefined)
    if (reason !== undefined) {
      leftOut.push(`${name}: ${reason}`)
      continue
    }
    const { backend, remove } = await storage.open(row.files)
    const limits = { callsPerMinute: 1_000_000 }
    const workspace = await createWorkspace({ backend, policy: { preset: 'autonomous', rules: [GENERATED] }, limits })
    try {
      await run({ fs: createFs(workspace, options), load, remote })
      passed += 1
    } catch (error) {
      failed.push(`${name}: ${error instanceof Error ? `${error}\n${error.stack}` : String(error)}`)
    } finally {
      await workspace.close()
      await remove()
    }
  }
  return { passed, failed, leftOut }
}

/** Returns how many cases of a row run on a storage. */
export function countOf(row: LibraryRow, hasSync = false): number {
  return Object.keys(row.cases).filter((name) => reasonAgainst(row, name, hasSync, true) === undefined).length
}

/** Why a case cannot run on a storage. */
function reasonAgainst(
  { needsSync, needsRemote }: LibraryRow,
  name: string,
  hasSync = false,
  hasRemote = false,
): string | undefined {
  if (!hasSync && needsSync?.includes(name)) return 'the storage has no synchronous functions'
  return !hasRemote && needsRemote?.includes(name) ? 'there is no server' : undefined
}

/** Build outputs and packages are protected by default. */
const GENERATED = { name: 'outputs', action: 'allow', paths: ['out/**', 'out'], overrides: ['generated'] } as const
