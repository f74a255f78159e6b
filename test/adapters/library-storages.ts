import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import type { LibraryStorage } from './run-library.ts'

/** The storages on which libraries run in Node. */
export const storages = {
  memory: { hasSync: true, open: async (files) => ({ backend: memory(files), remove() {} }) },
  node: {
    async open(files) {
      const directory = mkdtempSync(join(tmpdir(), 'wardspace-library-'))
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(directory, path)), { recursive: true })
        writeFileSync(join(directory, path), text)
      }
      return { backend: nodeBackend(directory), remove: () => rmSync(directory, { recursive: true }) }
    },
  },
} as const satisfies Readonly<Record<string, LibraryStorage>>

export type StorageName = keyof typeof storages
