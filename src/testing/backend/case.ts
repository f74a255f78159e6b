import { type Path, parsePath } from '../../paths/logical-path.ts'
import type { Backend, Capabilities, Change, EntryState, Expectation, Receipt } from '../../storage/backend.ts'
import type { SubjectCase } from '../cases.ts'

/** A backend under test, empty and for one case only. */
export interface BackendSubject {
  readonly backend: Backend
  /** Clears up after the case. */
  dispose?(): Promise<void> | void
  /** Opens the same storage once more, after `backend` was closed. A backend that is `persistent` must give it. */
  reopen?(): Promise<Backend> | Backend
  /** Puts a link there behind the backend's back, whatever its target. Parents exist. */
  plantLink?(path: string, target: string): Promise<void> | void
  /** A text that no message may hold, such as the directory on disk. */
  readonly physical?: string
}

/** One case, over a backend of its own. */
export type BackendCase = SubjectCase<BackendSubject>

/** Skips a case where a capability is declared absent. */
export function needs(...names: ('links' | 'modes' | 'caseSensitive' | 'persistent' | 'set' | 'times')[]) {
  return ({ backend: { capabilities } }: BackendSubject): string | undefined => {
    const missing = names.find((name) => !has(capabilities, name))
    return missing && `the backend declares no ${missing}`
  }
}

function has(capabilities: Capabilities, name: Parameters<typeof needs>[number]): boolean {
  if (name === 'set') return capabilities.atomic === 'set'
  if (name === 'times') return capabilities.times === 'set'
  return capabilities[name]
}

/** Skips a case where an optional method is not there. */
export function offers(method: 'scan' | 'fork' | 'tree') {
  return ({ backend }: BackendSubject) => (backend[method] ? undefined : `the backend offers no ${method}`)
}

export const at = (path: string): Path => (path === '' || path === '.' ? '' : parsePath(path)) as Path

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

export const file = (content: string | Uint8Array, mode?: number): EntryState => ({
  type: 'file',
  bytes: typeof content === 'string' ? bytesOf(content) : content,
  ...(mode === undefined ? {} : { mode }),
})
export const directory: EntryState = { type: 'directory' }
export const link = (target: string): EntryState => ({ type: 'link', target })

export const change = (path: string, to: EntryState, expect: Expectation = 'any', from?: string): Change => ({
  path: at(path),
  expect,
  to,
  ...(from === undefined ? {} : { from: at(from) }),
})

export function commit(backend: Backend, ...changes: Change[]): Promise<Receipt> {
  return backend.commit(changes, { durability: 'relaxed' })
}

export const WRONG_SHA = { sha256: '0'.repeat(64) }

/** Everything in a tree, by path: what a refused change must leave as it was. */
export async function snapshot(backend: Backend): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const waiting: Path[] = [at('')]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const { name, type } of await backend.list(next)) {
      const path = (next === '' ? name : `${next}/${name}`) as Path
      if (type === 'directory') {
        found.set(path, 'directory')
        waiting.push(path)
      } else if (type === 'link') found.set(path, `link ${await backend.readLink(path)}`)
      else if (type === 'file') {
        const { bytes, stat } = await backend.read(path)
        found.set(path, `file ${stat.mode ?? ''} ${bytes.length} ${textOf(bytes.subarray(0, 2000))}`)
      } else found.set(path, type)
    }
  }
  return found
}

export async function textAt(backend: Backend, path: string): Promise<string> {
  return textOf((await backend.read(at(path))).bytes)
}
