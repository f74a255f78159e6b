import { corrupt } from './corrupt-error.ts'
import { MAX_OBJECT_BYTES } from './delta.ts'
import { type GitObject, inflated, type ObjectType, openPack, type Pack } from './pack.ts'
import type { GitFiles } from './repository-files.ts'

/** The objects of a repository by their ids: loose ones, and those in packs, which are kept open. */
export interface Objects {
  /** `undefined` where there is no such object. */
  read(id: string): Promise<GitObject | undefined>
  /** The bytes of an object that must be there and of that type. */
  need(id: string, type: ObjectType): Promise<Uint8Array>
  /** How many bytes an object has that was needed before. */
  knownSize(id: string): number | undefined
  /** The one id that starts with these hex digits; `undefined` where there is none or more than one. */
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

  async function fromPacks(known: Map<string, Pack>, id: string, hops: number): Promise<GitObject | undefined> {
    for (const [name, pack] of known) {
      const offset = pack.find(id)
      if (offset === undefined) continue
      // The pack that had the last object mostly has the next one.
      if (known.size > 1) {
        known.delete(name)
        packs = new Map([[name, pack], ...known])
      }
      return pack.read(offset, (base) => lookUp(base, hops + 1))
    }
    return undefined
  }

  /** `hops`: from pack to pack, or to a loose object, by the bases of deltas. */
  async function lookUp(id: string, hops: number): Promise<GitObject | undefined> {
    if (!/^[0-9a-f]{40}$/.test(id)) return undefined
    if (hops > MAX_HOPS) throw corrupt('a chain of deltas has no end')
    if (packs !== undefined) {
      const found = await fromPacks(packs, id, hops)
      if (found !== undefined) return found
    }
    const loose = await files.read(`objects/${id.slice(0, 2)}/${id.slice(2)}`)
    if (loose !== undefined) return parseLoose(await inflated(loose, MAX_OBJECT_BYTES + MAX_HEADER_BYTES))
    return fromPacks(await listPacks(), id, hops)
  }

  const objects: Objects = {
    async read(id) {
      if (packs === undefined) return lookUp(id, 0)
      try {
        return await lookUp(id, 0)
      } catch {
        // Repacked meanwhile: look once more, at what is there now.
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
      const found = new Set<string>()
      const rest = prefix.slice(2)
      for (const name of await files.list(`objects/${prefix.slice(0, 2)}`)) {
        if (name.length === 38 && name.startsWith(rest)) found.add(prefix.slice(0, 2) + name)
      }
      for (const pack of (await listPacks()).values()) for (const id of pack.withPrefix(prefix)) found.add(id)
      return found.size === 1 ? [...found][0] : undefined
    },
  }
  return objects
}

/** Git keeps the base of a delta in the same pack. */
const MAX_HOPS = 16

const MAX_HEADER_BYTES = 32

const MAX_SIZES = 100_000

const types: ReadonlySet<string> = new Set(['commit', 'tree', 'blob', 'tag'])

function parseLoose(bytes: Uint8Array): GitObject {
  const end = bytes.indexOf(0)
  if (end === -1 || end > MAX_HEADER_BYTES) throw corrupt('a loose object is damaged')
  const [type = '', size] = new TextDecoder().decode(bytes.subarray(0, end)).split(' ')
  if (!types.has(type) || Number(size) !== bytes.length - end - 1) {
    throw corrupt('a loose object is damaged')
  }
  return { type: type as ObjectType, bytes: bytes.subarray(end + 1) }
}
