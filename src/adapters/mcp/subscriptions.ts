import type { CallOptions } from '../../call/state/call.ts'
import { invalidParams } from './protocol-errors.ts'
import { readResource } from './read-resource.ts'
import type { Served } from './served-workspace.ts'
import { parseResourceUri } from './uris.ts'

/** Subscriptions of one client. */
const MOST = 200

/** What a client wants to be told about. */
export interface Subscriptions {
  /** @throws an error of the protocol for what may not be read */
  add(served: Served, uri: string, options: CallOptions): Promise<void>
  remove(uri: string): void
  /** The addresses that a change of these paths concerns; without paths, of any. */
  concerned(paths: readonly string[] | undefined): readonly string[]
  /** Looks all of them up in another workspace, and gives them: what is not there may be made later. */
  moveTo(served: Served): Promise<readonly string[]>
}

/** Where a change shows: at one path, in whatever changes, or never. */
type Place = { readonly path: string } | 'anything' | 'nothing'

/** The subscriptions of one client: to what it may read, and so may see change. */
export function createSubscriptions(): Subscriptions {
  const places = new Map<string, Place>()
  return {
    async add(served, uri, options) {
      if (places.size >= MOST && !places.has(uri)) throw invalidParams(`There are ${MOST} subscriptions already`)
      const name = parseResourceUri(uri)
      // A first line of it tells as much as its changes: whether it may be read is judged, and recorded.
      if (name.type === 'text') await readResource(served.run, uri, { ...name, range: { maxLines: 1 } }, options)
      places.set(uri, await placeOf(served, uri))
    },
    remove: (uri) => void places.delete(uri),
    concerned(paths) {
      const changed = paths && new Set(paths)
      return [...places].flatMap(([uri, place]) =>
        place === 'anything' || (place !== 'nothing' && changed?.has(place.path) !== false) ? [uri] : [],
      )
    },
    async moveTo(served) {
      const uris = [...places.keys()]
      for (const uri of uris) places.set(uri, await placeOf(served, uri))
      return uris
    },
  }
}

/** By its canonical name, under which changes are told; what may not be read there never changes. */
async function placeOf({ run }: Served, uri: string): Promise<Place> {
  const name = parseResourceUri(uri)
  if (name.type !== 'text') return name.type === 'policy' ? 'nothing' : 'anything'
  const explained = await run.explain('read_file', { path: name.path })
  const access = explained.ok && explained.verdict.decision !== 'deny' ? explained.accesses[0] : undefined
  return access === undefined ? 'nothing' : { path: access.path }
}
