import { lstatSync, readdirSync } from 'node:fs'
import { childOf, type LogicalPath, type Path, parsePath } from '../../paths/logical-path.ts'
import type { DirectoryEntry, EntryType } from '../../storage/backend.ts'
import { typeOf } from './stat.ts'
import { isTempName } from './temp-names.ts'
import type { PinnedDirectory, TreeAccess } from './tree-access.ts'

/** Returns the entries of a directory, sorted by UTF-16 code units, without names that no tool may use. */
export function listDirectory(access: TreeAccess, path: Path): DirectoryEntry[] {
  const pin = access.pin(path)
  try {
    return listPinned(pin, path)
  } finally {
    pin.close()
  }
}

/** Lists a directory that is already held open. */
export function listPinned(pin: PinnedDirectory, path: Path): DirectoryEntry[] {
  const entries: DirectoryEntry[] = []
  let isSorted = true
  let last = ''
  for (const entry of readdirSync(pin.self, WITH_TYPES)) {
    const { name } = entry
    if (!isListable(path, name)) continue
    const type = name.includes('\ufffd') ? typeByStat(pin, name) : typeOf(entry)
    // Some file systems do not store types in their directories.
    const resolvedType = type === 'other' ? typeByStat(pin, name) : type
    if (resolvedType === undefined) continue
    entries.push({ name, type: resolvedType })
    // The system usually returns names in byte order, which is rarely different.
    isSorted &&= last < name
    last = name
  }
  if (isSorted) return entries
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  // A name that is not UTF-8 may look like that of another entry.
  return entries.filter(({ name }, i) => name !== entries[i - 1]?.name)
}

const WITH_TYPES = Object.freeze({ withFileTypes: true })

/** Returns all names in a directory, also those that no tool may use. */
export function namesIn(access: TreeAccess, path: Path): string[] {
  const pin = access.pin(path)
  try {
    return readdirSync(pin.self)
  } finally {
    pin.close()
  }
}

const PLAIN_NAME = /^(?!\.wardspace-)[\w.+@()[\]-]{1,255}$/i

/** Returns whether a name in a directory is one that tools may use. */
export function isListable(directory: LogicalPath, name: string): boolean {
  if (PLAIN_NAME.test(name)) return true
  if (isTempName(name)) return false
  try {
    const path = childOf(directory, name)
    return parsePath(path) === path
  } catch {
    return false
  }
}

/** Returns undefined for a name with replacement characters, which is not the real name on disk. */
function typeByStat(pin: PinnedDirectory, name: string): EntryType | undefined {
  try {
    return typeOf(lstatSync(pin.at(name)))
  } catch {
    return undefined
  }
}
