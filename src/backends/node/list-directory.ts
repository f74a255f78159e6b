import { lstatSync, readdirSync } from 'node:fs'
import { childOf, type LogicalPath, type Path, parsePath } from '../../paths/logical-path.ts'
import type { DirectoryEntry, EntryType } from '../../storage/backend.ts'
import { typeOf } from './stat.ts'
import { isTempName } from './temp-names.ts'
import type { PinnedDirectory, TreeAccess } from './tree-access.ts'

/** The entries of a directory, sorted by UTF-16 units; names that no tool may use are left out. */
export function listDirectory(ground: TreeAccess, path: Path): DirectoryEntry[] {
  const pin = ground.pin(path)
  try {
    return listPinned(pin, path)
  } finally {
    pin.close()
  }
}

/** The same for a directory that is held open already. */
export function listPinned(pin: PinnedDirectory, path: Path): DirectoryEntry[] {
  const entries: DirectoryEntry[] = []
  let isSorted = true
  let last = ''
  for (const entry of readdirSync(pin.self, WITH_TYPES)) {
    const { name } = entry
    if (!isListable(path, name)) continue
    const type = name.includes('\ufffd') ? typeByStat(pin, name) : typeOf(entry)
    // Some filesystems do not tell types in their directories.
    const known = type === 'other' ? typeByStat(pin, name) : type
    if (known === undefined) continue
    entries.push({ name, type: known })
    // Node gives names in the order of their bytes, which differs for few.
    isSorted &&= last < name
    last = name
  }
  return isSorted ? entries : entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

const WITH_TYPES = Object.freeze({ withFileTypes: true })

/** Every name in a directory, those too that no tool may use. */
export function namesIn(ground: TreeAccess, path: Path): string[] {
  const pin = ground.pin(path)
  try {
    return readdirSync(pin.self)
  } finally {
    pin.close()
  }
}

const PLAIN_NAME = /^(?!\.wardspace-)[\w.+@()[\]-]{1,255}$/i

function isListable(directory: LogicalPath, name: string): boolean {
  if (PLAIN_NAME.test(name)) return true
  if (isTempName(name)) return false
  try {
    const path = childOf(directory, name)
    return parsePath(path) === path
  } catch {
    return false
  }
}

/** What the name leads to; undefined where the name is only a picture of bytes that are no UTF-8. */
function typeByStat(pin: PinnedDirectory, name: string): EntryType | undefined {
  try {
    return typeOf(lstatSync(pin.at(name)))
  } catch {
    return undefined
  }
}
