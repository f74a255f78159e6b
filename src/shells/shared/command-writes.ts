import { ToolError } from '../../errors.ts'
import { requireFile } from '../../guard/guarded-files.ts'
import { isWithin, notFound, type Path, parsePath, quote, ROOT } from '../../paths/logical-path.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import type { CopySource } from '../../policy/content-flow.ts'
import type { Backend, Change, EntryState, Stat } from '../../storage/backend.ts'
import { largeBounds } from '../../storage/large-bounds.ts'
import { linkTarget } from '../../storage/link-target.ts'
import { readParts } from '../../storage/read-parts.ts'
import { type FileState, HEAD_BYTES, sizeOf, stateAt, stateWithin, versionAt } from '../../storage/versions.ts'
import { concatBytes } from '../../util/bytes.ts'
import { runInTurns } from '../../util/steps.ts'
import type { CommandFiles, WriteOptions } from '../types.ts'
import type { CommandGate, LargeContents } from './command-gate.ts'
import { readFile } from './command-reads.ts'

/** The operations of a command's files that change something. */
export type CommandWrites = Pick<
  CommandFiles,
  'write' | 'copy' | 'makeDirectory' | 'remove' | 'rename' | 'link' | 'setMode'
>

export function createCommandWrites(gate: CommandGate): CommandWrites {
  const { backend } = gate
  return {
    write: (path, bytes, options) => writeFile(gate, path, bytes, options),

    async copy(from, to, { mode } = {}) {
      const large = gate.options.large
      const stat = large && (await backend.stat(await backend.canonical(parsePath(from))))
      if (large !== undefined && isLarge(stat)) return copyLarge(gate, large, from, to, mode)
      const { access, shown } = await readFile(gate, from, gate.options.onCopy ?? gate.options.onRead)
      const source = { path: access.path, asked: access.asked as Path }
      await writeFile(gate, to, shown, mode === undefined ? {} : { mode }, source)
    },

    makeDirectory: (path, { mayExist = false } = {}) =>
      gate.attempt('file:write:create', path, async () => {
        const access = await gate.reach({ permission: 'file:write:create', path })
        const stat = await backend.stat(access.path)
        if (mayExist && stat?.type === 'directory') return
        if (access.path === ROOT || stat !== undefined) throw alreadyExists(path)
        await gate.requireParent(access.path)
        await gate.commit([{ path: access.path, expect: 'any', to: { type: 'directory' } }], [access])
      }),

    remove: (path) =>
      gate.attempt('file:delete', path, async () => {
        const access = await gate.reach({ permission: 'file:delete', path, noFollow: true })
        if (access.path === ROOT) throw new ToolError('POLICY_DENIED', 'The workspace root cannot be removed', { path })
        const stat = await backend.stat(access.path)
        if (stat === undefined) throw notFound(path)
        const below = stat.type === 'directory' ? await gate.descendants(access.path) : []
        // Every entry is evaluated before the first one is removed.
        const removed = [access]
        for (const entry of below) {
          removed.push(await gate.reach({ permission: 'file:delete', path: entry.path, noFollow: true }))
          await gate.pause()
        }
        await gate.commit(
          removed.map((entry) => ({ path: entry.path, expect: 'any', to: null })),
          removed,
        )
      }),

    rename: (from, to) => gate.attempt('file:move', from, () => rename(gate, from, to)),

    link: (path, target) =>
      gate.attempt('file:write:create', path, async () => {
        const access = await gate.reach({ permission: 'file:write:create', path, noFollow: true })
        if ((await backend.stat(access.path)) !== undefined) throw alreadyExists(path)
        await gate.requireParent(access.path)
        const change: Change = { path: access.path, expect: 'absent', to: { type: 'link', target } }
        // Before the target is evaluated as a path, because an error would quote it.
        await gate.requireHidden([change])
        // A link gives a file another name, so the command must be allowed to read the file.
        const targetPath = linkTarget(access.path, target)
        if (targetPath !== '') await gate.reach({ permission: 'file:read', path: targetPath })
        await gate.commit([change], [access])
      }),

    setMode: (path, mode) =>
      gate.attempt('file:write:replace', path, () =>
        untilUnchanged(async () => {
          const access = await gate.reach({ permission: 'file:write:replace', path })
          const stat = await backend.stat(access.path)
          if (stat === undefined || stat.type === 'other') throw notFound(path)
          // Backends store no permission bits for directories.
          if (stat.type !== 'file' || stat.mode === mode || !backend.capabilities.modes) return
          const read = await backend.read(access.path)
          const to = { type: 'file', bytes: read.bytes, mode } as const
          const change: Change = { path: access.path, expect: versionOfRead(read), to }
          await gate.commit([change], [access], { keepsContent: true })
        }),
      ),
  }
}

/** @param copied the file of which `bytes` are the content */
function writeFile(
  gate: CommandGate,
  path: string,
  bytes: Uint8Array,
  options: WriteOptions = {},
  copied?: CopySource,
): Promise<void> {
  const { backend, marks } = gate
  const write = async () => {
    const isAppended = options.append === true && (await isFile(backend, path))
    const access = await gate.reach({ permission: isAppended ? 'file:append' : 'file:write', path })
    const stat = await backend.stat(access.path)
    if (stat === undefined) await gate.requireParent(access.path)
    else requireFile(access.path, stat)
    const before = isAppended ? await backend.read(access.path) : undefined
    const restored = await runInTurns(marks.restore(bytes, access.path, before?.bytes), gate.pause)
    const whole = before === undefined ? restored : concatBytes([before.bytes, restored])
    gate.requireFits(path, whole.length, 'would have')
    const to = {
      type: 'file',
      bytes: whole,
      ...(options.mode === undefined ? {} : { mode: options.mode }),
      ...(before === undefined ? {} : { sharedPrefix: before.bytes.length }),
    } as const
    const expect = options.append === true ? versionOfRead(before) : 'any'
    await gate.commit([{ path: access.path, expect, to }], [access], { keepsContent: isAppended, copied })
  }
  return gate.attempt('file:write:replace', path, () => (options.append === true ? untilUnchanged(write) : write()))
}

/** Attempts of a change whose content depends on what was read. */
const MOST_ATTEMPTS = 20

/** Repeats a change whose content depends on what was read, if that has changed meanwhile. */
async function untilUnchanged(change: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await change()
      return
    } catch (error) {
      const isConflict = error instanceof ToolError && error.code === 'WRITE_CONFLICT'
      if (!isConflict || attempt === MOST_ATTEMPTS) throw error
    }
  }
}

/** Expects what a read has returned: another call may have changed it since. */
function versionOfRead(read: { readonly stat: Stat } | undefined): Change['expect'] {
  return read === undefined ? 'absent' : { tag: read.stat.tag }
}

/**
 * Writes a content that is not in memory.
 *
 * @param appendsTo the file that the content begins with, as it was read
 */
export function writeContent(
  gate: CommandGate,
  path: string,
  state: FileState,
  { appendsTo, copied }: { readonly appendsTo?: Stat | undefined; readonly copied?: CopySource } = {},
): Promise<void> {
  const append = appendsTo !== undefined
  return gate.attempt('file:write:replace', path, async () => {
    const access = await gate.reach({ permission: append ? 'file:append' : 'file:write', path })
    const stat = await gate.backend.stat(access.path)
    if (stat === undefined) await gate.requireParent(access.path)
    else requireFile(access.path, stat)
    gate.requireFits(path, sizeOf(state), 'would have')
    const expect = append ? { tag: appendsTo.tag } : 'any'
    await gate.commit([{ path: access.path, expect, to: state }], [access], { keepsContent: append, copied })
  })
}

/** Copies a file part by part. The bytes are those of the file: nobody receives them, so they need no marks. */
function copyLarge(
  gate: CommandGate,
  large: LargeContents,
  from: string,
  to: string,
  mode: number | undefined,
): Promise<void> {
  const { backend, options } = gate
  return gate.attempt('file:read', from, async () => {
    const access = await gate.reach({ permission: 'file:read', path: from })
    const stat = await backend.stat(access.path)
    requireFile(access.path, stat)
    ;(options.onCopy ?? options.onRead)(access.path, stat.size)
    // Before the first byte is written.
    const target = await gate.reach({ permission: 'file:write', path: to })
    const sink = await large.stage(target.path)
    let head: Uint8Array | undefined
    for await (const bytes of readParts(backend, access.path, stat)) {
      gate.requireRunning()
      head ??= bytes.slice(0, HEAD_BYTES)
      await sink.write(bytes)
    }
    const state = { type: 'file', bytes: head ?? new Uint8Array(), content: await sink.finish() } as const
    const copied = { path: access.path, asked: access.asked as Path }
    await writeContent(gate, to, mode === undefined ? state : { ...state, mode }, { copied })
  })
}

function isLarge(stat: Stat | undefined): boolean {
  return stat?.type === 'file' && stat.size > largeBounds.fileBytes
}

async function rename(gate: CommandGate, from: string, to: string): Promise<void> {
  const { backend } = gate
  const source = await gate.reach({ permission: 'file:move', path: from, noFollow: true, reveals: true })
  const target = await gate.reach({ permission: 'file:move', path: to, noFollow: true })
  if (source.path === target.path) return
  const stat = await backend.stat(source.path)
  if (stat === undefined) throw notFound(from)
  if (source.path === ROOT || isWithin(target.path, source.path)) {
    throw new ToolError('INVALID_INPUT', `Cannot move ${quote(from)} into itself`, { path: from })
  }
  await gate.requireParent(target.path)
  const accesses = [source, target]
  const existing = await backend.stat(target.path)
  if (existing !== undefined) accesses.push(await reachReplaced(gate, stat, existing, target.path, to))
  const changes = await moveChanges(gate, source.path, target.path, stat, existing)
  for (const { path } of stat.type === 'directory' ? await gate.descendants(source.path) : []) {
    const newPath = `${target.path}${path.slice(source.path.length)}` as Path
    accesses.push(await gate.reach({ permission: 'file:move', path, noFollow: true, reveals: true }))
    accesses.push(await gate.reach({ permission: 'file:move', path: newPath, noFollow: true }))
    changes.push(...(await moveChanges(gate, path, newPath, await backend.stat(path))))
    await gate.pause()
  }
  await gate.commit(changes, accesses)
}

/**
 * Evaluates the replacement of an entry by a moved one: a file replaces a file, a directory an empty directory.
 *
 * @throws ToolError if the entry cannot be replaced
 */
async function reachReplaced(
  gate: CommandGate,
  stat: Stat,
  existing: Stat,
  path: Path,
  requestedPath: string,
): Promise<GuardedAccess> {
  const name = quote(requestedPath)
  const [isDirectory, wasDirectory] = [stat.type === 'directory', existing.type === 'directory']
  if (wasDirectory && !isDirectory) throw new ToolError('IS_DIRECTORY', `${name} is a directory`, { path })
  if (isDirectory && !wasDirectory) throw new ToolError('NOT_A_DIRECTORY', `${name} is not a directory`, { path })
  if (wasDirectory && (await gate.backend.list(path)).length > 0) {
    throw new ToolError('DIRECTORY_NOT_EMPTY', `${name} is not empty`, { path })
  }
  return gate.reach({ permission: 'file:write:replace', path: requestedPath, noFollow: true })
}

/** The changes that move one entry. `stat` and `existing` are what is expected at its old and new path. */
async function moveChanges(
  { backend, options }: CommandGate,
  from: Path,
  to: Path,
  stat?: Stat,
  existing?: Stat,
): Promise<Change[]> {
  const state = await (options.large === undefined ? stateAt(backend, from) : storedStateAt(backend, from))
  if (state === null) throw new ToolError('PATH_REJECTED', `${quote(from)} is not a regular file`, { path: from })
  const removal: Change = { path: from, expect: stat === undefined ? 'any' : { tag: stat.tag }, to: null }
  const expect = existing === undefined ? 'absent' : ({ tag: existing.tag } as const)
  return [removal, { path: to, expect, to: state, from }]
}

/** {@link stateAt}, of a large file only its beginning and its version. */
async function storedStateAt(backend: Backend, path: Path): Promise<EntryState> {
  const { state, headOf } = await stateWithin(backend, path, largeBounds.fileBytes)
  if (headOf === undefined || state?.type !== 'file') return state
  const version = await versionAt(backend, path)
  if (version?.type !== 'file') throw notFound(path)
  const { size, sha256 } = version
  return { ...state, content: { size, sha256 } }
}

function alreadyExists(path: string): ToolError {
  return new ToolError('ALREADY_EXISTS', `${quote(path)} already exists`, { path })
}

async function isFile(backend: Backend, path: string): Promise<boolean> {
  const canonical = await backend.canonical(parsePath(path))
  return (await backend.stat(canonical))?.type === 'file'
}
