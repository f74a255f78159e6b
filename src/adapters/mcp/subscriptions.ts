import type { CallOptions } from '../../call/state/call.ts'
import { invalidParams } from './protocol-errors.ts'
import { readResource } from './read-resource.ts'
import { ownCalls, type Served } from './served-workspace.ts'
import { parseResourceUri } from './uris.ts'

/** Maximum number of subscriptions of one client. */
const MAX_SUBSCRIPTIONS = 200

/** The resources that a client has subscribed to. */
export interface Subscriptions {
  /** @throws a protocol error for a resource that the client may not read, and for too many subscriptions */
  add(served: Served, uri: string, options: CallOptions): Promise<void>
  remove(uri: string): void
  /**
   * Returns the URIs that changes of these paths affect. Without paths, every file counts as changed. `isShown`: whether the client
   * may know of the change, so that it affects the diff and the reports.
   */
  affectedBy(paths: readonly string[] | undefined, isShown: boolean): readonly string[]
  /** Resolves all URIs in another workspace and returns them. A missing file keeps its subscription: it can be created later. */
  resolveIn(served: Served): Promise<readonly string[]>
}

/** Which changes affect a resource: those of one path, all, or none. */
type Trigger = { readonly path: string } | 'all' | 'none'

/** Creates the subscriptions of one client. It can subscribe only to what it may read. */
export function createSubscriptions(): Subscriptions {
  const triggers = new Map<string, Trigger>()
  return {
    async add(served, uri, options) {
      if (triggers.size >= MAX_SUBSCRIPTIONS && !triggers.has(uri))
        throw invalidParams(`There are ${MAX_SUBSCRIPTIONS} subscriptions already: unsubscribe from one`)
      const name = parseResourceUri(uri)
      // Reading the first line checks and records whether the client may read it.
      if (name.type === 'text') await readResource(served.run, uri, { ...name, range: { maxLines: 1 } }, options)
      triggers.set(uri, await triggerOf(served, uri))
    },
    remove: (uri) => void triggers.delete(uri),
    affectedBy(paths, isShown) {
      const changed = paths && new Set(paths)
      const isAffected = (trigger: Trigger) =>
        trigger === 'all' ? isShown : trigger !== 'none' && changed?.has(trigger.path) !== false
      return [...triggers].flatMap(([uri, trigger]) => (isAffected(trigger) ? [uri] : []))
    },
    async resolveIn(served) {
      const uris = [...triggers.keys()]
      for (const uri of uris) triggers.set(uri, await triggerOf(served, uri))
      return uris
    },
  }
}

/** Resolves an address to its canonical path, under which changes are reported. An unreadable file never triggers. */
async function triggerOf({ run }: Served, uri: string): Promise<Trigger> {
  const name = parseResourceUri(uri)
  if (name.type !== 'text') return name.type === 'policy' ? 'none' : 'all'
  const explained = await ownCalls(run).explain('read_file', { path: name.path })
  const access = explained.ok && explained.verdict.decision !== 'deny' ? explained.accesses[0] : undefined
  return access === undefined ? 'none' : { path: access.path }
}
