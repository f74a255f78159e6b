import { ToolError } from '../../src/errors.ts'
import { sha256 } from '../../src/files/hash/sha256.ts'
import { type LogicalPath, type Path, ROOT } from '../../src/paths/logical-path.ts'
import type { Backend, Change } from '../../src/storage/backend.ts'
import { INSIDE, type Operation } from './link-race.ts'

const FILE = 'dir/file.txt' as Path
const TOP = 'top.txt' as Path
const bytes = new TextEncoder().encode(INSIDE)

/** Read operations. They are cheap, so that many of them coincide with a swap. */
export function readOperations(backend: Backend): Operation[] {
  return [
    { name: 'read below the directory', run: () => backend.read(FILE) },
    { name: 'read the file', run: () => backend.read(TOP) },
    { name: 'read a range', run: () => backend.read(FILE, { start: 0, end: 20 }) },
    { name: 'stat', run: () => backend.stat(FILE), refusesNothing: true },
    { name: 'list', run: () => backend.list('dir' as Path) },
    { name: 'canonical, then read', run: async () => backend.read(await backend.canonical(FILE as LogicalPath)) },
    {
      name: 'canonical of the file, then read',
      run: async () => backend.read(await backend.canonical(TOP as LogicalPath)),
    },
    {
      name: 'walk',
      async run() {
        const results = new Map<string, unknown>()
        await backend.walk?.(ROOT, {
          visit(directory, entries, read) {
            results.set(directory, [entries, read('file.txt', 100_000)])
            return entries.filter(({ name, type }) => type === 'directory' && name !== 'yard').map(({ name }) => name)
          },
          skipped(directory, error) {
            if (directory === 'dir') throw error
          },
        })
        return [...results]
      },
    },
    {
      name: 'scan',
      async run() {
        const paths: string[] = []
        await backend.scan?.([FILE, TOP, FILE], (_, content) => {
          paths.push(Buffer.from(content).toString('latin1'))
          return true
        })
        // The scan skips paths that lead outside at that moment; this counts as refused.
        if (paths.length < 3) throw new ToolError('NOT_FOUND', `${3 - paths.length} of 3 files were passed over`)
        return paths
      },
    },
    {
      name: 'scan with two threads',
      async run() {
        const contents = new Set<string>()
        let count = 0
        const paths = Array.from({ length: 1100 }, (_, i) => (i % 2 === 0 ? FILE : TOP))
        await backend.scan?.(paths, (_, content) => {
          contents.add(Buffer.from(content).toString('latin1'))
          return ++count > 0
        })
        if (count < 550) throw new ToolError('NOT_FOUND', `${1100 - count} of 1,100 files were passed over`)
        return [...contents]
      },
    },
  ]
}

/** Write operations. Each leaves the tree in the state that the next one needs, if the attacker does not prevent it. */
export function writeOperations(backend: Backend): Operation[] {
  let count = 0
  const commit = (...changes: Change[]) => backend.commit(changes, { durability: 'relaxed' })
  const put = (path: Path, content: Uint8Array, expect: Change['expect'] = 'any'): Change => ({
    path,
    expect,
    to: { type: 'file', bytes: content },
  })
  const absent = (path: Path): Change => ({ path, expect: 'any', to: null })
  let [here, there] = ['dir/here' as Path, 'dir/there' as Path]
  return [
    { name: 'replace below the directory', run: () => commit(put(FILE, bytes)) },
    { name: 'replace the file', run: () => commit(put(TOP, bytes)) },
    { name: 'create', run: () => commit(put(`dir/new-${++count}` as Path, bytes, 'absent')) },
    {
      name: 'delete',
      async run() {
        const path = `dir/deleted-${++count}` as Path
        await commit(put(path, bytes, 'absent'))
        return commit(absent(path))
      },
    },
    {
      name: 'append',
      async run() {
        if ((await backend.stat(FILE)) === undefined) await commit(put(FILE, bytes, 'absent'))
        const old = (await backend.read(FILE)).bytes
        const longer = Buffer.concat([old.subarray(0, 1000), bytes])
        return commit({
          path: FILE,
          expect: { sha256: sha256(old) },
          to: { type: 'file', bytes: longer, sharedPrefix: old.length },
        })
      },
    },
    {
      name: 'move',
      async run() {
        // Alternates between both directions.
        ;[here, there] = [there, here]
        if ((await backend.stat(here)) === undefined) await commit(put(here, bytes))
        const { bytes: content } = await backend.read(here)
        return commit(absent(here), { ...put(there, content), from: here })
      },
    },
    // Files that exist outside only: an operation that follows the link would change them.
    { name: 'replace a file that is outside only', run: () => commit(put('dir/victim.txt' as Path, bytes)) },
    {
      name: 'delete a file that is outside only',
      run: () => commit(absent('dir/victim.txt' as Path)),
      refusesNothing: true,
    },
    {
      name: 'create and delete a directory',
      async run() {
        const path = `dir/sub-${++count}` as Path
        const inside = `${path}/x` as Path
        await commit({ path, expect: 'any', to: { type: 'directory' } }, put(inside, bytes, 'absent'))
        return commit(absent(path), absent(inside))
      },
    },
  ]
}
