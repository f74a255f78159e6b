import { ToolError } from '../../errors.ts'
import { sha256Async } from '../../files/hash/sha256.ts'
import { checkLimit } from '../../limits.ts'
import { childOf, isWithin, nameOf, notFound, type Path, parentOf, quote } from '../../paths/logical-path.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import type { Change, EntryType, Stat } from '../../storage/backend.ts'
import { linkTarget } from '../../storage/link-target.ts'
import type { BuiltinContext } from '../builtin-tool.ts'
import { checkVersion, type Expected, refuseVersion } from './expected-version.ts'
import { alreadyThere, refuseRoot } from './target.ts'

/** The entries that a move or copy affects: the source itself and, for a directory, everything in it. */
export interface Transfer {
  readonly type: EntryType
  /** Number of files, links and directories, including the source itself. */
  readonly entries: number
  readonly sizeBytes: number
  /** Version of the source, if it is a file. */
  readonly sha256: string | null
  /** Every affected path before the operation. */
  readonly sources: readonly Path[]
  readonly changes: readonly Change[]
}

/**
 * Builds the changes that move or copy an entry to a free path. For a directory they cover everything in it, including
 * hidden and ignored names, each with both paths, so that policy evaluates every entry.
 *
 * @throws ToolError `NOT_FOUND ALREADY_EXISTS PATH_REJECTED INVALID_INPUT LIMIT_EXCEEDED FILE_TOO_LARGE WRITE_CONFLICT`
 */
export async function transfer(
  context: BuiltinContext,
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
    const existing = await files.stat(to)
    if (existing !== undefined) throw alreadyThere(to, existing.type, from)
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
    const current = path === from ? stat : await files.stat(path)
    if (current === undefined || current.type !== type) throw changedDuringCall(path)
    sizeBytes += current.size
    checkLimit('size in bytes', sizeBytes, limits.treeBytes, from)
    const copy = await copyOf(context, path, current, options.verb)
    if (path === from && copy.sha256 !== null) {
      checkVersion(from, options.expected, copy.sha256)
      version = copy.sha256
    }
    if (copy.to?.type === 'link') linkTarget(newPath, copy.to.target)
    const expect = copy.sha256 === null ? { tag: copy.tag } : { sha256: copy.sha256 }
    if (isMove) changes.push({ path, expect, to: null })
    changes.push({ path: newPath, expect: 'absent', to: copy.to, ...(isMove ? { from: path } : {}) })
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

/** Returns the state of one entry for its new path. */
async function copyOf(
  { files, limits }: BuiltinContext,
  path: Path,
  stat: Stat,
  verb: string,
): Promise<{ to: Change['to']; tag: string; sha256: string | null }> {
  if (stat.type === 'link')
    return { to: { type: 'link', target: await files.readLink(path) }, tag: stat.tag, sha256: null }
  if (stat.type === 'directory') {
    if ((await files.stat(childOf(path, '.git'))) !== undefined) {
      throw new ToolError('POLICY_DENIED', `Cannot ${verb} ${quote(path)}: it contains files internal to git`, { path })
    }
    return { to: { type: 'directory' }, tag: stat.tag, sha256: null }
  }
  if (stat.type !== 'file') throw new ToolError('PATH_REJECTED', `${quote(path)} is not a regular file`, { path })
  const read = await files.read(path, limits.treeBytes)
  const { mode, tag } = read.stat
  return {
    to: { type: 'file', bytes: read.bytes, ...(mode === undefined ? {} : { mode }) },
    tag,
    sha256: await sha256Async(read.bytes),
  }
}

/**
 * Returns the new path if both names are the same entry on a storage that ignores letter case, and only its letter case
 * changes.
 */
function otherSpelling(context: BuiltinContext, source: GuardedAccess, target: GuardedAccess): Path | undefined {
  if (context.files.capabilities.caseSensitive || source.path !== target.path) return undefined
  const spelled = childOf(parentOf(target.path), nameOf(target.asked))
  return spelled !== source.path && spelled.toLowerCase() === source.path.toLowerCase() ? (spelled as Path) : undefined
}

function changedDuringCall(path: Path): ToolError {
  return new ToolError('WRITE_CONFLICT', `${quote(path)} changed during the call`, { path, currentSha256: null })
}
