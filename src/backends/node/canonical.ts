import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { childOf, type LogicalPath, nameOf, type Path, parentOf, quote, ROOT } from '../../paths/logical-path.ts'
import { canonicalSync, type LookupResult } from '../../storage/canonical-path.ts'
import { errnoOf } from '../../storage/storage-error.ts'
import { isMissing } from './errno.ts'
import type { Root } from './root.ts'
import { typeOf } from './stat.ts'
import { refuseTempNames } from './temp-names.ts'
import type { TreeAccess } from './tree-access.ts'

/** Implements `Backend.canonical`: one open if the path contains no link, else link by link. */
export function canonicalOnDisk(root: Root, path: LogicalPath, noFollow: boolean): Path {
  if (path === '') return ROOT
  refuseTempNames(path)
  const { access } = root
  if (!root.caseSensitive)
    return spelled(
      access,
      canonicalSync((at) => lookUp(access, at), path, noFollow),
      path,
    )
  if (!noFollow && isStraight(access, path)) return path as Path
  const resolved = canonicalSync((at) => lookUp(access, at), path, noFollow)
  if (resolved !== path) refuseTempNames(resolved)
  return resolved
}

/** Returns the target of a link, as stored. Throws ToolErrors and system errors. */
export function readLinkAt(access: TreeAccess, path: Path): string {
  const pin = access.pin(parentOf(path))
  try {
    return readlinkSync(pin.at(nameOf(path)))
  } finally {
    pin.close()
  }
}

function isStraight(access: TreeAccess, path: LogicalPath): boolean {
  try {
    return access.isStraight(path)
  } catch (error) {
    // Resolving link by link finds the reason.
    if (isMissing(error) || errnoOf(error) === 'EACCES') return false
    throw error
  }
}

function lookUp(access: TreeAccess, path: Path): LookupResult {
  let type: ReturnType<typeof typeOf>
  try {
    const entry = access.look(path)
    type = typeOf(entry.stat)
    entry.close()
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  return type === 'link' ? { link: insideTarget(access, path, readLinkAt(access, path)) } : { type }
}

/** Turns an absolute target below the root into a relative one. The resolver refuses all other absolute targets. */
function insideTarget(access: TreeAccess, path: Path, target: string): string {
  if (!target.startsWith('/')) return target
  const below = access.physical === '/' ? '/' : `${access.physical}/`
  if (target !== access.physical && !target.startsWith(below)) return target
  const up = '../'.repeat(path.split('/').length - 1)
  return `${up}./${target.slice(below.length)}`
}

/** Returns the path as the disk spells it, for disks that ignore letter case or Unicode form. */
function spelled(access: TreeAccess, path: Path, requestedPath: LogicalPath): Path {
  let here = ROOT
  for (const name of path === '' ? [] : path.split('/')) {
    refuseAlteredName(name, requestedPath)
    here = childOf(here, spelledName(access, here, name) as string)
  }
  refuseTempNames(here)
  return here
}

function spelledName(access: TreeAccess, directory: Path, name: string): string {
  let pin: ReturnType<TreeAccess['pin']>
  try {
    pin = access.pin(directory)
  } catch (error) {
    if (isMissing(error)) return name
    throw error
  }
  try {
    const names = readdirSync(pin.self)
    if (names.includes(name)) return name
    const { ino, dev } = lstatSync(pin.at(name))
    const same = names.filter((other) => {
      const stats = lstatSync(pin.at(other))
      return stats.ino === ino && stats.dev === dev
    })
    const folded = fold(name)
    return same.find((other) => fold(other) === folded) ?? same[0] ?? name
  } catch (error) {
    if (isMissing(error)) return name
    throw error
  } finally {
    pin.close()
  }
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

/** Windows and its file systems drop trailing dots and spaces, and treat some names as devices. */
function refuseAlteredName(name: string, requestedPath: LogicalPath): void {
  if (process.platform === 'darwin' || !ALTERED.test(name)) return
  throw new ToolError('PATH_REJECTED', `Path ${quote(requestedPath)} contains a name that this storage would alter`, {
    path: requestedPath,
  })
}

const ALTERED = /[. ]$|^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\.|$)|~\d|[<>"|?*]/i
