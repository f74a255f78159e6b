import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { ToolError } from '../../errors.ts'
import { childOf, type LogicalPath, nameOf, type Path, parentOf, quote, ROOT } from '../../paths/logical-path.ts'
import { canonicalSync, type LookupResult } from '../../storage/canonical-path.ts'
import { isMissing } from './errno.ts'
import type { Root } from './root.ts'
import { typeOf } from './stat.ts'
import { refuseTempNames } from './temp-names.ts'
import type { TreeAccess } from './tree-access.ts'

/** `Backend.canonical` on a disk: one open where no link is in the path, link by link otherwise. */
export function canonicalOnDisk(root: Root, path: LogicalPath, noFollow: boolean): Path {
  if (path === '') return ROOT
  refuseTempNames(path)
  const { ground } = root
  if (!root.caseSensitive)
    return spelled(
      ground,
      canonicalSync((at) => see(ground, at), path, noFollow),
      path,
    )
  if (!noFollow && isStraight(ground, path)) return path as Path
  const found = canonicalSync((at) => see(ground, at), path, noFollow)
  if (found !== path) refuseTempNames(found)
  return found
}

/** The target of a link, as stored. Throws ToolErrors and the system's errors. */
export function readLinkAt(ground: TreeAccess, path: Path): string {
  const pin = ground.pin(parentOf(path))
  try {
    return readlinkSync(pin.at(nameOf(path)))
  } finally {
    pin.close()
  }
}

function isStraight(ground: TreeAccess, path: LogicalPath): boolean {
  try {
    return ground.isStraight(path)
  } catch (error) {
    // The walk finds out what is wrong, if it is wrong.
    if (isMissing(error) || isLoop(error)) return false
    throw error
  }
}

function isLoop(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ELOOP' || code === 'EACCES'
}

function see(ground: TreeAccess, path: Path): LookupResult {
  let type: ReturnType<typeof typeOf>
  try {
    const look = ground.look(path)
    type = typeOf(look.stat)
    look.close()
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  return type === 'link' ? { link: insideTarget(ground, path, readLinkAt(ground, path)) } : { type }
}

/** An absolute target below the root is as good as a relative one; the resolver refuses every other. */
function insideTarget(ground: TreeAccess, path: Path, target: string): string {
  if (!target.startsWith('/')) return target
  const below = ground.physical === '/' ? '/' : `${ground.physical}/`
  if (target !== ground.physical && !target.startsWith(below)) return target
  const up = '../'.repeat(path.split('/').length - 1)
  return `${up}./${target.slice(below.length)}`
}

/** The path in the disk's own spelling, for disks that find a name in any letter case (or Unicode form). */
function spelled(ground: TreeAccess, path: Path, asked: LogicalPath): Path {
  let here = ROOT
  for (const name of path === '' ? [] : path.split('/')) {
    refuseAlteredName(name, asked)
    here = childOf(here, spelledName(ground, here, name) as string)
  }
  refuseTempNames(here)
  return here
}

function spelledName(ground: TreeAccess, directory: Path, name: string): string {
  let pin: ReturnType<TreeAccess['pin']>
  try {
    pin = ground.pin(directory)
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

/** Windows (and its filesystems anywhere) drops trailing dots and spaces and takes some names for devices. */
function refuseAlteredName(name: string, asked: LogicalPath): void {
  if (process.platform === 'darwin' || !ALTERED.test(name)) return
  throw new ToolError('PATH_REJECTED', `Path ${quote(asked)} holds a name that this storage would alter`, {
    path: asked,
  })
}

const ALTERED = /[. ]$|^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\.|$)|~\d|[<>"|?*]/i
