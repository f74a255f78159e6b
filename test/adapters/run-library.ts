import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { type Backend, createWorkspace } from '../../src/index.ts'
import type { LibraryContext, LibraryRow } from './library-rows.ts'

/** The storages on which libraries run. */
export const storages = {
  memory: (files: Readonly<Record<string, string>>) => ({ backend: memory(files) as Backend, remove() {} }),
  node(files: Readonly<Record<string, string>>) {
    const directory = mkdtempSync(join(tmpdir(), 'wardspace-library-'))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), text)
    }
    return { backend: nodeBackend(directory), remove: () => rmSync(directory, { recursive: true }) }
  },
} as const

export type StorageName = keyof typeof storages

/** What became of the cases of a library on a storage. */
export interface LibraryResult {
  readonly passed: number
  readonly failed: readonly string[]
  readonly leftOut: readonly string[]
}

/** Runs the cases of a row on a storage. */
export async function runLibrary(
  row: LibraryRow,
  storage: StorageName,
  load: LibraryContext['load'],
): Promise<LibraryResult> {
  let passed = 0
  const failed: string[] = []
  const leftOut: string[] = []
  for (const [name, run] of Object.entries(row.cases)) {
    if (storage !== 'memory' && row.needsSync?.includes(name) === true) {
      leftOut.push(`${name}: the storage has no synchronous functions`)
      continue
    }
    const { backend, remove } = storages[storage](row.files)
    const limits = { callsPerMinute: 1_000_000 }
    const workspace = await createWorkspace({ backend, policy: { preset: 'autonomous', rules: [GENERATED] }, limits })
    try {
      await run({ fs: createFs(workspace), load })
      passed += 1
    } catch (error) {
      failed.push(`${name}: ${error instanceof Error ? error.stack : String(error)}`)
    } finally {
      await workspace.close()
      remove()
    }
  }
  return { passed, failed, leftOut }
}

/** Build outputs are protected by default. */
const GENERATED = { name: 'outputs', action: 'allow', paths: ['out/**', 'out'], overrides: ['generated'] } as const
