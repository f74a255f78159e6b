import { ToolError } from '../errors.ts'
import { sha256 } from '../files/hash/sha256.ts'
import { type Path, quote } from '../paths/logical-path.ts'
import type { DirectoryEntry, EntryType } from './backend.ts'
import { isSha256 } from './change-set.ts'
import type { StoredEntry } from './plan-commit.ts'

/*
 * What a storage returns that others may have changed or damaged. A damaged entry does not hide the others: it is listed with
 * the type `other`, and can be neither read nor changed.
 */

const types: ReadonlySet<unknown> = new Set<EntryType>(['file', 'directory', 'link', 'other'])

/** Returns an entry if it is whole; otherwise one of the type `other`. */
export function wholeEntry(value: unknown): StoredEntry<number> {
  const { type, stat, target, sha256, content } = Object(value) as Record<string, unknown>
  const { size, mode, modifiedAt, tag } = Object(stat) as Record<string, unknown>
  const isStat = isCount(size) && isCount(mode) && mode <= 0o7777 && Number.isFinite(modifiedAt) && isText(tag)
  const isWhole =
    (type === 'directory' && isStat) ||
    (type === 'link' && isStat && isText(target)) ||
    (type === 'file' && isStat && isSha256(sha256) && isCount(content))
  if (isWhole) return value as StoredEntry<number>
  const time = Number.isFinite(modifiedAt) ? (modifiedAt as number) : 0
  return { type: 'other', stat: { type: 'other', size: 0, mode: 0o644, modifiedAt: time, tag: String(tag) } }
}

/** Returns the entries of a directory whose names can be parts of a path. */
export function wholeNames(entries: Iterable<{ readonly name: unknown; readonly type: unknown }>): DirectoryEntry[] {
  const whole: DirectoryEntry[] = []
  for (const { name, type } of entries) {
    if (!isText(name) || /^\.{0,2}$|\//.test(name)) continue
    whole.push({ name, type: types.has(type) ? (type as EntryType) : 'other' })
  }
  return whole
}

/** Whether bytes are the whole content of a file. A part of one cannot be checked. */
export function isContentOf(
  entry: { readonly sha256: string; readonly stat: { readonly size: number } },
  bytes: Uint8Array,
) {
  return bytes.length === entry.stat.size && sha256(bytes) === entry.sha256
}

/** The error for a file or an entry that is not as it was stored. */
export function damaged(path: Path): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot read ${quote(path)}: the storage is damaged there`, { path })
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
