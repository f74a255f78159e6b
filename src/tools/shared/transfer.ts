import { ToolError } from '../../errors.ts'
import { sha256 } from '../../files/hash/sha256.ts'
import { checkLimit } from '../../limits.ts'
import { childOf, isWithin, nameOf, type Path, parentOf, quote } from '../../paths/logical-path.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import type { Change, EntryType, Stat } from '../../storage/backend.ts'
import { linkTarget } from '../../storage/change-set.ts'
import type { ToolContext } from '../define-tool.ts'
import { checkVersion, type Expected, refuseVersion } from './expected-version.ts'
import { alreadyThere, notFound, refuseRoot } from './target.ts'

/** What a move or a copy takes along: the thing itself, and everything in it where it is a directory. */
export interface Transfer {
  readonly type: EntryType
  /** Files, links and directories, the thing itself included. */
  readonly entries: number
  readonly sizeBytes: number
  /** Of a file. */
  readonly sha256: string | null
  /** Every path that is taken along, as it is named now. */
  readonly sources: readonly Path[]
  readonly changes: readonly Change[]
}

/**
 * Builds the changes that bring what is at one path to another that is free. A directory goes along with everything in
 * it, hidden and ignored names too, each under both of its names, so that policy judges every one of them.
 *
 * @throws ToolError `NOT_FOUND ALREADY_EXISTS PATH_REJECTED INVALID_INPUT LIMIT_EXCEEDED FILE_TOO_LARGE WRITE_CONFLICT`
 */
export async function transfer(
  context: ToolContext,
  [source, target]: readonly [GuardedAccess, GuardedAccess],
  options: {
    readonly verb: 'move' | 'copy'
    readonly expected: Expected
    readonly createParents: boolean
  },
): Promise<Transfer> {
  const { files, limits } = context
  const from = source.path
  const isMove = options.verb === 'move'
  refuseRoot(from, options.verb)
  refuseRoot(target.path, 'replace')
  const stat = await files.stat(from)
  if (stat === undefined) throw notFound(from)
  const respelled = isMove ? otherSpelling(context, source, target) : undefined
  const to = respelled ?? target.path
  if (respelled === undefined) {
    const there = await files.stat(to)
    if (there !== undefined) throw alreadyThere(to, there.type, from)
    if (isWithin(to, from)) {
      throw new ToolError('INVALID_INPUT', `Cannot ${options.verb} ${quote(from)} into itself`, {
        path: from,
        field: 'to',
      })
    }
  }
  if (stat.type !== 'file') refuseVersion(from, options.expected, stat.type)

  const entries = [
    { path: from, type: stat.type },
    ...(stat.type === 'directory' ? await files.allEntries(from, limits.treeEntries - 1) : []),
  ]
  const changes: Change[] = options.createParents && respelled === undefined ? await files.missingParents(to) : []
  let sizeBytes = 0
  let version: string | null = null
  for (const { path, type } of entries) {
    const newPath = (path === from ? to : `${to}${path.slice(from.length)}`) as Path
    const own = path === from ? stat : await files.stat(path)
    if (own === undefined || own.type !== type) throw changedMeanwhile(path)
    sizeBytes += own.size
    checkLimit('size in bytes', sizeBytes, limits.treeBytes, from)
    const taken = await take(context, path, own)
    if (path === from && taken.sha256 !== null) {
      checkVersion(from, options.expected, taken.sha256)
      version = taken.sha256
    }
    if (taken.to?.type === 'link') linkTarget(newPath, taken.to.target)
    const expect = taken.sha256 === null ? { tag: taken.tag } : { sha256: taken.sha256 }
    if (isMove) changes.push({ path, expect, to: null })
    changes.push({ path: newPath, expect: 'absent', to: taken.to, ...(isMove ? { from: path } : {}) })
  }
  return {
    type: stat.type,
    entries: entries.length,
    sizeBytes,
    sha256: version,
    sources: entries.map(({ path }) => path),
    changes,
  }
}

/** The present state of one entry, as it shall stand at another path. */
async function take(
  { files, limits }: ToolContext,
  path: Path,
  stat: Stat,
): Promise<{ to: Change['to']; tag: string; sha256: string | null }> {
  if (stat.type === 'link')
    return { to: { type: 'link', target: await files.readLink(path) }, tag: stat.tag, sha256: null }
  if (stat.type === 'directory') {
    if ((await files.stat(childOf(path, '.git'))) !== undefined) {
      throw new ToolError('POLICY_DENIED', `Cannot take ${quote(path)} along: it holds git-internal files`, { path })
    }
    return { to: { type: 'directory' }, tag: stat.tag, sha256: null }
  }
  if (stat.type !== 'file') throw new ToolError('PATH_REJECTED', `${quote(path)} is no ordinary file`, { path })
  const read = await files.read(path, limits.treeBytes)
  const { mode, tag } = read.stat
  return {
    to: { type: 'file', bytes: read.bytes, ...(mode === undefined ? {} : { mode }) },
    tag,
    sha256: sha256(read.bytes),
  }
}

/**
 * The new path where both names are one thing on a storage that ignores letter case, and only the spelling shall change.
 */
function otherSpelling(context: ToolContext, source: GuardedAccess, target: GuardedAccess): Path | undefined {
  if (context.files.capabilities.caseSensitive || source.path !== target.path) return undefined
  const spelled = childOf(parentOf(target.path), nameOf(target.asked))
  return spelled !== source.path && spelled.toLowerCase() === source.path.toLowerCase() ? (spelled as Path) : undefined
}

function changedMeanwhile(path: Path): ToolError {
  return new ToolError('WRITE_CONFLICT', `${quote(path)} changed during the call`, { path, currentSha256: null })
}
