import { describe, it } from 'vitest'
import { type LazyEntry, lazy } from '../../../src/backends/lazy/index.ts'
import { memory } from '../../../src/backends/memory/index.ts'
import { overlay } from '../../../src/backends/overlay/index.ts'
import { ROOT } from '../../../src/paths/logical-path.ts'
import type { Backend, Path } from '../../../src/storage/kit.ts'
import { readCases } from '../../../src/testing/backend/reads.ts'
import { backendContract, registerContract } from '../../../src/testing/index.ts'

/** The entries of a backend, as a source lists them. */
async function entriesOf(source: Backend): Promise<LazyEntry[]> {
  const entries: LazyEntry[] = []
  const waiting: Path[] = [ROOT]
  for (const directory of waiting) {
    for (const { name, type } of await source.list(directory)) {
      const path = (directory === ROOT ? name : `${directory}/${name}`) as Path
      const stat = await source.stat(path)
      if (type === 'directory') {
        waiting.push(path)
        entries.push({ type, path })
      } else if (type === 'file') {
        entries.push({ type, path, size: stat?.size ?? 0, mode: stat?.mode ?? 0o644, version: stat?.tag ?? '' })
      } else if (type === 'link') entries.push({ type, path })
    }
  }
  return entries
}

/** Shows the files of a backend on demand, under an overlay. After each commit, they are listed again. */
function shownOnDemand(source: Backend): Backend {
  const open = () =>
    overlay(
      lazy({
        list: () => entriesOf(source),
        load: async ({ type, path }) =>
          type === 'link'
            ? new TextEncoder().encode(await source.readLink(path as Path))
            : (await source.read(path as Path)).bytes,
      }),
    )
  let shown = open()
  return {
    capabilities: shown.capabilities,
    canonical: (path, options) => shown.canonical(path, options),
    stat: (path) => shown.stat(path),
    list: (path) => shown.list(path),
    read: (path, range) => shown.read(path, range),
    readLink: (path) => shown.readLink(path),
    scan: async (paths, visit, maxBytes) => shown.scan?.(paths, visit, maxBytes),
    async commit(changes, options) {
      const receipt = await source.commit(changes, options)
      shown = open()
      return receipt
    },
    close: () => shown.close(),
  }
}

const wanted = new Set(readCases.map(({ name }) => name))
const cases = backendContract({
  name: 'files on demand',
  create: () => ({ backend: shownOnDemand(memory()) }),
})

registerContract(
  'the reads of files on demand under an overlay',
  cases.filter(({ name }) => wanted.has(name) || (/link|scan|canonical/.test(name) && !name.startsWith('commit'))),
  { describe, it },
)

registerContract(
  'an overlay of memory over files on demand',
  backendContract({
    name: 'overlay over files on demand',
    create: () => ({ backend: overlay(lazy({ list: async () => [], load: async () => new Uint8Array() })) }),
  }),
  { describe, it },
)
