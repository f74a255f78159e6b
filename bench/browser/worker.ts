import { memory } from '../../src/backends/memory/index.ts'
import { opfs } from '../../src/backends/opfs/index.ts'
import { createWorkspace } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend, Change } from '../../src/storage/backend.ts'

/** Runs in a worker, where files have synchronous handles. Figures are total milliseconds. */

const FILES = 2_000
const BYTES = 4_096
const encoder = new TextEncoder()

interface SyncHandle {
  read(bytes: Uint8Array, options: { at: number }): number
  write(bytes: Uint8Array, options: { at: number }): number
  getSize(): number
  flush(): void
  close(): void
}

const contents = Array.from({ length: 10_000 }, (_, i) =>
  encoder.encode(`export const value${i} = ${i}\n`.repeat(200)).slice(0, BYTES),
)
/** Returns a copy, since hashes are cached by the identity of the content. */
const contentOf = (i: number): Uint8Array => (contents[i] as Uint8Array).slice()

const pathOf = (i: number): string => `d${i % 40}/f${i}.ts`
const directories = Array.from({ length: 40 }, (_, i) => `d${i}`)

const directoryChange = (path: string): Change => ({ path: path as Path, expect: 'any', to: { type: 'directory' } })
const fileChange = (i: number): Change => ({
  path: pathOf(i) as Path,
  expect: 'any',
  to: { type: 'file', bytes: contentOf(i) },
})
const all = (count: number): Change[] => [
  ...directories.map(directoryChange),
  ...Array.from({ length: count }, (_, i) => fileChange(i)),
]

async function timed(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await action()
  return performance.now() - start
}

/** One handle per file, opened, used and closed, as without a library. Keeps the handles of directories. */
async function plain(root: FileSystemDirectoryHandle) {
  const handles: FileSystemDirectoryHandle[] = []
  for (const name of directories) handles.push(await root.getDirectoryHandle(name, { create: true }))
  const open = async (i: number, create: boolean): Promise<SyncHandle> => {
    const file = await (handles[i % 40] as FileSystemDirectoryHandle).getFileHandle(`f${i}.ts`, { create })
    return (file as unknown as { createSyncAccessHandle(): Promise<SyncHandle> }).createSyncAccessHandle()
  }
  const write = await timed(async () => {
    for (let i = 0; i < FILES; i++) {
      const handle = await open(i, true)
      handle.write(contentOf(i), { at: 0 })
      handle.flush()
      handle.close()
    }
  })
  const read = await timed(async () => {
    for (let i = 0; i < FILES; i++) {
      const handle = await open(i, false)
      handle.read(new Uint8Array(handle.getSize()), { at: 0 })
      handle.close()
    }
  })
  return { write, read }
}

async function readAll(backend: Backend): Promise<number> {
  return timed(async () => {
    for (let i = 0; i < FILES; i++) await backend.read(pathOf(i) as Path)
  })
}

async function search(backend: Backend, repeats: number): Promise<{ cold: number; warm: number }> {
  const workspace = await createWorkspace({ backend, policy: 'autonomous' })
  const once = () =>
    timed(async () => {
      const result = await workspace.call('search_text', {
        query: 'value1234 = 1234',
        maxMatches: 5,
        timeoutMs: 60_000,
      })
      if (!result.ok) throw new Error(result.message)
    })
  const cold = await once()
  const warm: number[] = []
  for (let i = 0; i < repeats; i++) warm.push(await once())
  return { cold, warm: warm.sort((a, b) => a - b)[repeats >> 1] as number }
}

/** The milliseconds until a stored workspace is open again. */
async function opening(name: string, changes: Change[]): Promise<number> {
  let backend: Backend = await opfs({ name })
  await backend.commit(changes, { durability: 'durable' })
  await backend.close()
  const milliseconds = await timed(async () => {
    backend = await opfs({ name })
  })
  await backend.close()
  return milliseconds
}

/** Files of 200 to 400 bytes, so that their number counts and not their content. */
function small(count: number): Change[] {
  const bytes = (i: number) => encoder.encode(`export const value${i} = ${i}\n`.repeat(10))
  return [
    ...directories.map(directoryChange),
    ...Array.from({ length: count }, (_, i) => ({
      path: pathOf(i) as Path,
      expect: 'any' as const,
      to: { type: 'file' as const, bytes: bytes(i) },
    })),
  ]
}

/** Commits 1 MB again and again until the journal has been compacted. Returns the milliseconds of the longest commit. */
async function compacting(name: string): Promise<number> {
  const backend = await opfs({ name })
  let longest = 0
  for (let i = 0; i < 150; i++) {
    const to = { type: 'file' as const, bytes: new Uint8Array(1_000_000).fill(i) }
    const commit = () => backend.commit([{ path: 'rest' as Path, expect: 'any', to }], { durability: 'relaxed' })
    longest = Math.max(longest, await timed(commit))
  }
  await backend.close()
  return longest
}

globalThis.onmessage = ({ data: runs }: { data: number }) => {
  // Reports errors, which would be lost otherwise.
  measureAll(runs).then(
    (figures) => globalThis.postMessage({ figures }),
    (error: Error) => globalThis.postMessage({ error: `${error.stack}` }),
  )
}

async function measureAll(runs: number) {
  const figures: Awaited<ReturnType<typeof measure>>[] = []
  for (let run = 0; run < runs; run++) figures.push(await measure(run))
  return figures
}

async function measure(run: number) {
  const root = await navigator.storage.getDirectory()
  const bare = await plain(await root.getDirectoryHandle(`plain-${run}`, { create: true }))

  let packed: Backend = await opfs({ name: `packed-${run}` })
  const packedSet = all(FILES)
  const packedWrite = await timed(() => packed.commit(packedSet, { durability: 'durable' }))
  const packedSingle = await timed(async () => {
    for (let i = 0; i < FILES; i++) await packed.commit([fileChange(i)], { durability: 'relaxed' })
  })
  await packed.close()
  packed = await opfs({ name: `packed-${run}` })
  const packedRead = await readAll(packed)
  const packedSearch = await search(packed, 15)

  const files = await opfs({ name: `files-${run}`, layout: 'files' })
  const filesSet = all(FILES)
  const filesWrite = await timed(() => files.commit(filesSet, { durability: 'durable' }))
  const filesRead = await readAll(files)
  const filesSearch = await search(files, 1)

  const inMemory = memory()
  await inMemory.commit(all(FILES), { durability: 'relaxed' })
  const memorySearch = await search(inMemory, 15)

  for (const backend of [packed, files]) await backend.close()
  const open = await opening(`large-${run}`, all(10_000))
  const huge = await opening(`huge-${run}`, small(100_000))
  const longestCommit = await compacting(`huge-${run}`)
  return {
    bare,
    packed: {
      write: packedWrite,
      single: packedSingle,
      read: packedRead,
      search: packedSearch,
      open,
      huge,
      longestCommit,
    },
    files: { write: filesWrite, read: filesRead, search: filesSearch },
    memory: { search: memorySearch },
  }
}
