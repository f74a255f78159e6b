import { ToolError } from '../errors.ts'
import { objectId } from '../files/hash/sha1.ts'
import { nearestFinder, type Path, parentOf, quote } from '../paths/logical-path.ts'
import type { Change } from '../storage/backend.ts'
import { concatBytes } from '../util/bytes.ts'
import { conflict, fileAt, planRestore } from './checkout.ts'
import { treeOfIndex } from './compare-commits.ts'
import { gitPath, makeDirectories } from './isomorphic-fs.ts'
import type { StashOptions } from './provider.ts'
import { parseCommit } from './refs.ts'
import type { RepositoryContext } from './repository-context.ts'
import { gitFiles } from './repository-files.ts'
import { type NewObject, writeIndex, writeObjects, writeTrees } from './repository-index.ts'
import { requireCone } from './sparse-settings.ts'
import { type LogLine, NO_COMMIT, readStashes, readStashLog, type StashLine, stashesOf } from './stash-log.ts'
import { EMPTY_TREE, filesOf, type TreeDirectory, type TreeFile } from './trees.ts'
import { holdableTest, judgedPath } from './valid-path.ts'

const REF = gitPath('refs', 'stash')
const LOG = gitPath('logs', 'refs', 'stash')

/** Returns what is stashed, newest first. */
export function listStashes({ backend }: RepositoryContext): Promise<readonly StashLine[]> {
  return readStashes(gitFiles(backend))
}

/** Stores the changes of readable files as a commit of its own, and takes them back. Returns its id. */
export async function pushStash(
  context: RepositoryContext,
  { message, untracked = false }: StashOptions = {},
): Promise<string | undefined> {
  await context.requireRepository()
  const { reader, host } = context
  const head = await reader.headCommit()
  if (head === undefined) throw new ToolError('NOT_FOUND', 'Cannot stash before the first commit')
  const index = await context.stagedFiles()
  const committed = new Map(filesOf(await context.headTree()))
  const files = new Map<string, TreeFile>(committed)
  const added = new Map<string, TreeFile>()
  const blobs: NewObject[] = []
  const targets = new Map<Path, TreeFile | null>()
  const cone = await requireCone(context, 'stash')
  for (const { path, old, now } of await context.changedSinceHead()) {
    const isTracked = old !== null || index.has(path)
    if (!host.mayRead(path) || (!isTracked && !untracked)) continue
    targets.set(path, cone?.includes(path) === false ? null : (committed.get(path) ?? null))
    const into = isTracked ? files : added
    if (now === null) into.delete(path)
    else {
      const bytes = await now.bytes()
      if (bytes === undefined)
        throw new ToolError('FILE_TOO_LARGE', `Cannot stash ${quote(path)}: it is too large`, { path })
      const id = objectId('blob', bytes)
      blobs.push({ type: 'blob', id, bytes })
      into.set(path, { mode: now.mode, id })
    }
  }
  const isHoldable = holdableTest()
  const stagedOnly = [...index].filter(
    ([path, file]) => !isSame(file, committed.get(path)) && isHoldable(path as Path) && host.mayRead(path as Path),
  )
  if (targets.size === 0 && stagedOnly.length === 0) return undefined
  await writeObjects(context, blobs)
  const branch = await branchName(context)
  const title = `${branch}: ${head.slice(0, 7)} ${await subjectOf(context, head)}`
  const staged = await writeCommit(context, treeOfIndex(index), [head], `index on ${title}\n`)
  const parents = [head, staged]
  if (added.size > 0) parents.push(await writeCommit(context, treeOfIndex(added), [], `untracked files on ${title}\n`))
  const shown = message === undefined ? `WIP on ${title}` : `On ${branch}: ${onOneLine(message)}`
  const commit = await writeCommit(context, treeOfIndex(files), parents, message === undefined ? `${shown}\n` : shown)
  const before = await readStashLog(gitFiles(context.backend))
  // The stash comes first: whatever ends this, the changes are in it or in the files.
  await writeStashLog(context, [...before, { commit, message: shown, line: logLine(context, commit, shown) }])
  try {
    const plan = await planRestore(context.backend, reader.objects, targets)
    if (plan.changes.length > 0) await host.change(plan.changes, 'stash')
  } catch (error) {
    await writeStashLog(context, before)
    throw error
  }
  for (const path of [...targets.keys(), ...stagedOnly.map(([path]) => path)]) {
    const file = committed.get(path)
    if (file === undefined) index.delete(path)
    else index.set(path, { ...file, size: 0 })
  }
  await writeIndex(context, index)
  return commit
}

/**
 * Brings the changes of a stash into the files.
 *
 * @throws ToolError `NOT_FOUND`; `WRITE_CONFLICT` if a file that it changes is not as it was when it was stashed;
 * `PATH_REJECTED` if it changes what a workspace cannot hold
 */
export async function applyStash(context: RepositoryContext, position = 0): Promise<void> {
  const { reader, host } = context
  const { commit } = stashAt(await logOf(context), position)
  const [base = '', , untracked] = parseCommit(await reader.objects.need(commit, 'commit')).parents
  const before = new Map(filesOf(await reader.tree(base)))
  const tree = await reader.tree(commit)
  const after = new Map(filesOf(tree))
  const addedTree = untracked === undefined ? EMPTY_TREE : await reader.tree(untracked)
  const targets = new Map<Path, TreeFile | null>()
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    if (!isSame(before.get(path), after.get(path))) targets.set(path as Path, after.get(path) ?? null)
  }
  for (const [path, file] of filesOf(addedTree)) targets.set(path as Path, file)
  const head = new Map(filesOf(await context.headTree()))
  const dirty = new Map((await context.changedSinceHead()).map((changed) => [changed.path as string, changed.now]))
  const conflicts: Path[] = []
  for (const [path, target] of targets) {
    const now = dirty.has(path) ? (dirty.get(path) ?? undefined) : head.get(path)
    if (isSame(now, target ?? undefined)) targets.delete(path)
    else if (!isSame(now, before.get(path))) conflicts.push(path)
  }
  requireHoldable(context, unholdable(targets, [tree, addedTree]))
  if (conflicts.length > 0) throw conflict(conflicts, host.mayRead, 'apply the stash')
  const plan = await planRestore(context.backend, reader.objects, targets)
  requireHoldable(context, plan.skipped)
  if (plan.changes.length > 0) await host.change(plan.changes, 'stash apply')
  const index = await context.stagedFiles()
  let isIndexChanged = false
  for (const [path, file] of targets) {
    // As git does it: a new file is staged, and every other change is not.
    if (file === null || head.has(path) || !after.has(path)) continue
    index.set(path, { ...file, size: 0 })
    isIndexChanged = true
  }
  if (isIndexChanged) await writeIndex(context, index)
}

/** Removes a stash. Returns its commit. */
export async function dropStash(context: RepositoryContext, position = 0): Promise<string> {
  const log = await logOf(context)
  const dropped = stashAt(log, position)
  await writeStashLog(
    context,
    log.filter((line) => line !== dropped),
  )
  return dropped.commit
}

async function logOf(context: RepositoryContext): Promise<readonly LogLine[]> {
  await context.requireRepository()
  return readStashLog(gitFiles(context.backend))
}

/** @throws ToolError `NOT_FOUND` */
function stashAt(log: readonly LogLine[], position: number): StashLine {
  const entry = stashesOf(log)[position]
  if (entry !== undefined) return entry
  throw new ToolError('NOT_FOUND', `stash@{${position}} is not a valid reference`, { hint: 'List the stashes.' })
}

/** Returns the paths of a stash that a workspace cannot hold, whatever their content is. */
function unholdable(targets: ReadonlyMap<Path, TreeFile | null>, trees: readonly TreeDirectory[]): readonly Path[] {
  const isHoldable = holdableTest()
  const fileAbove = nearestFinder<Path>((at) => Boolean(targets.get(at)))
  return [...targets.keys()].filter((path) => {
    const file = targets.get(path)
    if (!file) return !isHoldable(path)
    // A name with a slash is a path only once the names are joined.
    const isJoined = !trees.some((tree) => fileAt(tree, path) === file)
    return isJoined || !isHoldable(path) || fileAbove(parentOf(path)) !== undefined
  })
}

/** @throws ToolError `PATH_REJECTED` that names one of the paths, unless all are unreadable */
function requireHoldable({ host }: RepositoryContext, refused: readonly string[]): void {
  if (refused.length === 0) return
  const path = refused.find((one) => host.mayRead(judgedPath(one)))
  throw new ToolError(
    'PATH_REJECTED',
    `Cannot apply the stash: a workspace cannot hold ${path === undefined ? 'one of its files' : quote(path)}`,
  )
}

function isSame(a: TreeFile | undefined, b: TreeFile | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode
}

async function branchName({ backend }: RepositoryContext): Promise<string> {
  const head = new TextDecoder().decode((await backend.read(gitPath('HEAD'))).bytes)
  return /^ref: refs\/heads\/(\S+)/.exec(head)?.[1] ?? '(no branch)'
}

async function subjectOf({ reader }: RepositoryContext, commit: string): Promise<string> {
  const text = new TextDecoder().decode(await reader.objects.need(commit, 'commit'))
  return onOneLine(text.slice(text.indexOf('\n\n') + 2).replace(/\n[\s\S]*/, ''))
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function signature({ author: { name, email }, host }: RepositoryContext): string {
  return `${name} <${email}> ${Math.floor(host.now() / 1000)} +0000`
}

function logLine(context: RepositoryContext, commit: string, message: string): Uint8Array {
  return new TextEncoder().encode(`${NO_COMMIT} ${commit} ${signature(context)}\t${message}`)
}

async function writeCommit(
  context: RepositoryContext,
  root: Parameters<typeof writeTrees>[1],
  parents: readonly string[],
  message: string,
): Promise<string> {
  const tree = await writeTrees(context, root)
  const who = signature(context)
  const lines = [`tree ${tree}`, ...parents.map((id) => `parent ${id}`), `author ${who}`, `committer ${who}`]
  const bytes = new TextEncoder().encode(`${lines.join('\n')}\n\n${message}`)
  const id = objectId('commit', bytes)
  await writeObjects(context, [{ type: 'commit', id, bytes }])
  return id
}

/** Writes the log and the ref of the stashes in one change set. Lines that name no stash stay as they are. */
async function writeStashLog({ backend }: RepositoryContext, log: readonly LogLine[]): Promise<void> {
  await makeDirectories(backend, LOG)
  await makeDirectories(backend, REF)
  const encode = (text: string) => new TextEncoder().encode(text)
  let newest: string | undefined
  const parts: Uint8Array[] = []
  for (const { commit, line } of log) {
    if (commit === undefined) parts.push(line)
    else {
      parts.push(encode(newest ?? NO_COMMIT), line.subarray(NO_COMMIT.length))
      newest = commit
    }
    parts.push(encode('\n'))
  }
  const file = (bytes: Uint8Array): Change['to'] => ({ type: 'file', bytes })
  const changes: Change[] = [
    { path: REF, expect: 'any', to: newest === undefined ? null : file(encode(`${newest}\n`)) },
    { path: LOG, expect: 'any', to: parts.length === 0 ? null : file(concatBytes(parts)) },
  ]
  await backend.commit(changes, { durability: 'durable' })
}
