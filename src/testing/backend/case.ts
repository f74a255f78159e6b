import { type Path, parsePath } from '../../paths/logical-path.ts'
import type { Backend, Capabilities, Change, EntryState, Expectation, Receipt } from '../../storage/backend.ts'
import type { SubjectCase } from '../cases.ts'

/** A backend under test. It is empty and used for one case only. */
export interface BackendSubject {
  readonly backend: Backend
  /** Cleans up after the case. */
  dispose?(): Promise<void> | void
  /** Opens the same storage again after `backend` was closed. Required if the backend is `persistent`. */
  reopen?(): Promise<Backend> | Backend
  /** Creates a link without using the backend, with any target. The parent directories exist. */
  plantLink?(path: string, target: string): Promise<void> | void
  /** Writes a file without using the backend, as another program does. The parent directories exist. */
  writeBeside?(path: string, text: string): Promise<void> | void
  /** A text that no message may contain, such as the directory on disk. */
  readonly physical?: string
}

/** One case, over a backend of its own. */
export type BackendCase = SubjectCase<BackendSubject>

/** Skips a case if the backend declares one of the capabilities absent. */
export function needs(...names: ('links' | 'modes' | 'caseSensitive' | 'persistent' | 'set' | 'times')[]) {
  return ({ backend: { capabilities } }: BackendSubject): string | undefined => {
    const missing = names.find((name) => !has(capabilities, name))
    return missing && `the backend does not declare ${missing}`
  }
}

function has(capabilities: Capabilities, name: Parameters<typeof needs>[number]): boolean {
  if (name === 'set') return capabilities.atomic === 'set'
  if (name === 'times') return capabilities.times === 'set'
  return capabilities[name]
}

/** Skips a case if the backend does not have the optional method. */
export function offers(method: 'scan' | 'fork' | 'tree' | 'stage' | 'watch') {
  return ({ backend }: BackendSubject) => (backend[method] ? undefined : `the backend does not implement ${method}`)
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

/** Returns every entry of a tree as text, by path, to compare trees before and after a commit. */
export async function snapshot(backend: Backend): Promise<Map<string, string>> {
  const entries = new Map<string, string>()
  const waiting: Path[] = [at('')]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const { name, type } of await backend.list(next)) {
      const path = (next === '' ? name : `${next}/${name}`) as Path
      if (type === 'directory') {
        entries.set(path, 'directory')
        waiting.push(path)
      } else if (type === 'link') entries.set(path, `link ${await backend.readLink(path)}`)
      else if (type === 'file') {
        const { bytes, stat } = await backend.read(path)
        entries.set(path, `file ${stat.mode ?? ''} ${bytes.length} ${textOf(bytes.subarray(0, 2000))}`)
      } else entries.set(path, type)
    }
  }
  return entries
}

export async function textAt(backend: Backend, path: string): Promise<string> {
  return textOf((await backend.read(at(path))).bytes)
}
