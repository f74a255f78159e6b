import { type DurableStorage, durableObject } from '../../src/backends/durable-object/index.ts'
import { type BucketBinding, objectStore, r2 } from '../../src/backends/object-store/index.ts'
import type { BackendSubject } from '../../src/testing/index.ts'

/** A backend in the storage of an object, which must be empty and is emptied afterwards. */
export function durableObjectSubject(storage: DurableStorage & { deleteAll(): Promise<void> }): BackendSubject {
  return {
    backend: durableObject(storage),
    physical: 'wardspace_',
    reopen: () => durableObject(storage),
    plantLink(path, target) {
      const slash = path.lastIndexOf('/')
      storage.sql.exec(
        "INSERT INTO wardspace_entries (parent, name, type, tag, at, target) VALUES (?, ?, 'link', 0, 0, ?)",
        path.slice(0, Math.max(0, slash)),
        path.slice(slash + 1),
        target,
      )
    },
    dispose: () => storage.deleteAll(),
  }
}

let subjects = 0

/** A backend in a bucket, below its own prefix. */
export function r2Subject(bucket: BucketBinding): BackendSubject {
  const prefix = `subject-${++subjects}`
  const open = () => objectStore(r2(bucket), { prefix })
  const key = `${prefix}/manifest.json`
  return {
    backend: open(),
    physical: prefix,
    reopen: open,
    async plantLink(path, target) {
      const match = await r2(bucket).get(key)
      if (match === undefined || match === 'unchanged') throw new Error('There is no manifest yet')
      const manifest = JSON.parse(new TextDecoder().decode(match.bytes)) as {
        top: { rows: [directory: string, rows: unknown[][]][] }
      }
      const slash = path.lastIndexOf('/')
      const directory = path.slice(0, Math.max(0, slash))
      const planted = [path.slice(slash + 1), 'planted', 0, target]
      const rows = manifest.top.rows.find(([name]) => name === directory)?.[1]
      if (rows === undefined) manifest.top.rows.push([directory, [planted]])
      else rows.push(planted)
      rows?.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
      manifest.top.rows.sort(([a], [b]) => (a < b ? -1 : 1))
      await r2(bucket).put(key, new TextEncoder().encode(JSON.stringify(manifest)))
    },
  }
}
