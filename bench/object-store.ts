import { objectStore } from '../src/backends/object-store/index.ts'
import { createWorkspace } from '../src/index.ts'
import type { Path } from '../src/paths/logical-path.ts'
import type { Backend, Change } from '../src/storage/backend.ts'
import { mapStore, type RequestCounts } from '../test/edge/map-store.ts'
import { heading, report } from './measure.ts'

/** What a request costs at most, by the number of files. */
const budgets = [
  { files: 1_000, writtenKb: 64, cold: 4, search: 200 },
  { files: 50_000, writtenKb: 64, cold: 4, search: 200 },
  { files: 1_000_000, writtenKb: 128, cold: 8, search: undefined },
]

const DIRECTORY_FILES = 20
const COMMIT_FILES = 20_000

/** The requests of an object store: one-file writes, reads and a search, against their budgets. */
export async function benchObjectStore(): Promise<void> {
  heading('Requests of an object store')
  for (const { files, writtenKb, cold, search } of budgets) {
    const { store, count } = mapStore()
    const label = (text: string) => `${files.toLocaleString('en')} files: ${text}`
    await fill(objectStore(store), files)

    const backend = objectStore(store)
    const path = pathAt(Math.floor(files / 2))
    const first = await count(() => write(backend, path))
    const second = await count(() => write(backend, path))
    const created = await count(() => write(backend, `${path}-new` as Path))
    const written = Math.max(...[first, second, created].map((counts) => counts.written / 1024))
    report(label('one-file write, written'), written, writtenKb, 1, { unit: 'KB' })
    report(label('one-file write, cold, requests in a row'), first.inARow, cold, 1, { unit: 'requests' })
    report(label('one-file write after another, in a row'), second.inARow, 2, 1, { unit: 'requests' })

    const reader = objectStore(store)
    await reader.read(pathAt(3))
    report(label('warm read, in a row'), (await count(() => reader.read(pathAt(3)))).inARow, 2, 1, { unit: 'requests' })
    if (search !== undefined)
      report(label('cold search'), (await searchAll(objectStore(store), count)).get, search, 1, { unit: 'GETs' })
  }
}

function pathAt(file: number): Path {
  const directory = Math.floor(file / DIRECTORY_FILES)
  return `packages/package-${directory % 50}/directory-${directory}/component-${file % DIRECTORY_FILES}.ts` as Path
}

const fileAt = (file: number): Change => ({
  path: pathAt(file),
  expect: 'any',
  to: { type: 'file', bytes: new TextEncoder().encode(`export const value = ${file}\n`.repeat(8)) },
})

const directory = (path: string): Change => ({ path: path as Path, expect: 'any', to: { type: 'directory' } })

async function fill(backend: Backend, files: number): Promise<void> {
  const packages = Array.from({ length: 50 }, (_, i) => directory(`packages/package-${i}`))
  await backend.commit([directory('packages'), ...packages], { durability: 'durable' })
  for (let start = 0; start < files; start += COMMIT_FILES) {
    const changes: Change[] = []
    for (let file = start; file < Math.min(files, start + COMMIT_FILES); file++) {
      if (file % DIRECTORY_FILES === 0) changes.push(directory(pathAt(file).replace(/\/[^/]*$/, '')))
      changes.push(fileAt(file))
    }
    await backend.commit(changes, { durability: 'durable' })
  }
}

async function write(backend: Backend, path: Path): Promise<void> {
  const bytes = crypto.getRandomValues(new Uint8Array(4096))
  await backend.commit([{ path, expect: 'any', to: { type: 'file', bytes } }], { durability: 'durable' })
}

async function searchAll(backend: Backend, count: (action: () => Promise<unknown>) => Promise<RequestCounts>) {
  const workspace = await createWorkspace({ backend, policy: 'autonomous', limits: { searchTimeoutMs: 60_000 } })
  return count(() => workspace.call('search_text', { query: 'a text that is nowhere' }))
}
