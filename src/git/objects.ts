import { corrupt, TooLargeError } from './corrupt-error.ts'
import { MAX_OBJECT_BYTES } from './delta.ts'
import { type GitObject, inflated, inflatedStart, type ObjectType, openPack, type Pack } from './pack.ts'
import type { GitFiles } from './repository-files.ts'

/** Reads the objects of a repository by id: loose objects, and those in packs. Packs stay open. */
export interface Objects {
  /** Returns `undefined` if there is no such object. */
  read(id: string): Promise<GitObject | undefined>
  /** Returns the bytes of an object. @throws ToolError `BACKEND_ERROR` if it is missing or has another type */
  need(id: string, type: ObjectType): Promise<Uint8Array>
  /** Returns the size in bytes of an object that {@link need} has read before. */
  knownSize(id: string): number | undefined
  /** Returns the id that starts with these hex digits, or `undefined` when several or no ids do. */
  complete(prefix: string): Promise<string | undefined>
}

export function openObjects(files: GitFiles): Objects {
  let packs: Map<string, Pack> | undefined
  const sizes = new Map<string, number>()

  async function listPacks(): Promise<Map<string, Pack>> {
    const names = (await files.list('objects/pack'))
      .filter((name) => name.endsWith('.idx'))
      .map((name) => name.slice(0, -4))
    const opened = new Map<string, Pack>()
    for (const name of names) {
      const pack = packs?.get(name) ?? (await openPack(files, name))
      if (pack !== undefined) opened.set(name, pack)
    }
    packs = opened
    return opened
  }

  async function readFromPacks(opened: Map<string, Pack>, id: string, hops: number): Promise<GitObject | undefined> {
    for (const [name, pack] of opened) {
      const offset = pack.find(id)
      if (offset === undefined) continue
      // The next object is mostly in the same pack, so it moves to the front.
      if (opened.size > 1) {
        opened.delete(name)
        packs = new Map([[name, pack], ...opened])
      }
      return pack.read(offset, (base) => lookUp(base, hops + 1))
    }
    return undefined
  }

  /** `hops` counts the steps to other packs or loose objects through the bases of deltas. */
  async function lookUp(id: string, hops: number): Promise<GitObject | undefined> {
    if (!/^[0-9a-f]{40}$/.test(id)) return undefined
    if (hops > MAX_HOPS) throw corrupt('a chain of deltas has no end')
    if (packs !== undefined) {
      const object = await readFromPacks(packs, id, hops)
      if (object !== undefined) return object
    }
    const loose = await files.read(`objects/${id.slice(0, 2)}/${id.slice(2)}`)
    if (loose !== undefined) return readLoose(loose)
    return readFromPacks(await listPacks(), id, hops)
  }

  const objects: Objects = {
    async read(id) {
      if (packs === undefined) return lookUp(id, 0)
      try {
        return await lookUp(id, 0)
      } catch {
        // The repository may have been repacked: try again with the current packs.
        packs = undefined
        return lookUp(id, 0)
      }
    },
    async need(id, type) {
      const object = await objects.read(id)
      if (object === undefined) throw corrupt(`object ${id} is missing`)
      if (object.type !== type) throw corrupt(`object ${id} is a ${object.type}, not a ${type}`)
      /* v8 ignore if -- @preserve: a bound of memory that takes some 100,000 objects to reach */
      if (sizes.size >= MAX_SIZES) sizes.clear()
      sizes.set(id, object.bytes.length)
      return object.bytes
    },
    knownSize: (id) => sizes.get(id),
    async complete(prefix) {
      if (!/^[0-9a-f]{4,40}$/.test(prefix)) return undefined
      const ids = new Set<string>()
      const fileName = prefix.slice(2)
      for (const name of await files.list(`objects/${prefix.slice(0, 2)}`)) {
        if (name.length === 38 && name.startsWith(fileName)) ids.add(prefix.slice(0, 2) + name)
      }
      for (const pack of (await listPacks()).values()) for (const id of pack.withPrefix(prefix)) ids.add(id)
      return ids.size === 1 ? [...ids][0] : undefined
    },
  }
  return objects
}

/** Git itself keeps the base of a delta in the same pack. */
const MAX_HOPS = 16

const MAX_HEADER_BYTES = 32

const MAX_SIZES = 100_000

const types: ReadonlySet<string> = new Set(['commit', 'tree', 'blob', 'tag'])

/**
 * Reads a loose object. Its header says how many bytes it inflates to, and no more are inflated.
 *
 * @throws ToolError `BACKEND_ERROR` for a damaged object, and for one that is too large
 */
export async function readLoose(loose: Uint8Array): Promise<GitObject> {
  const start = await inflatedStart(loose, MAX_HEADER_BYTES)
  const end = start.indexOf(0)
  const [, type, digits] =
    /^([a-z]+) (\d{1,15})$/.exec(new TextDecoder().decode(start.subarray(0, Math.max(0, end)))) ?? []
  if (type === undefined || !types.has(type)) throw corrupt('a loose object is damaged')
  const size = Number(digits)
  if (size > MAX_OBJECT_BYTES) throw new TooLargeError('an object')
  const bytes = await inflated(loose, end + 1 + size)
  if (bytes.length !== end + 1 + size) throw corrupt('a loose object is damaged')
  return { type: type as ObjectType, bytes: bytes.subarray(end + 1) }
}
