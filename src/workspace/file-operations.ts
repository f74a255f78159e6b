import type { FileStep, StepFiles } from '../call/commands/program-files.ts'
import { readOperations } from '../call/read-operations.ts'
import { ToolError } from '../errors.ts'
import { sha256 } from '../files/hash/sha256.ts'
import { childOf, isWithin, notFound, type Path, quote } from '../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../policy/access.ts'
import type { Permission } from '../policy/permissions.ts'
import { shownStat } from '../shells/shared/command-gate.ts'
import type { EntryType } from '../storage/backend.ts'
import { largeBounds } from '../storage/large-bounds.ts'
import { stateAt, versionAt } from '../storage/versions.ts'
import { checkVersion, comparing } from '../tools/shared/expected-version.ts'
import { alreadyThere } from '../tools/shared/target.ts'
import { isUint8Array } from '../util/bytes.ts'
import { readRange } from './file-ranges.ts'
import type { FileStat } from './files.ts'
import { refuseMarks } from './refuse-marks.ts'

/** The input of an operation. Fields have the names that they have in tools, so that rules on arguments apply. */
export interface OperationInput {
  readonly path: string
  readonly to?: string | undefined
  readonly content?: string | undefined
  readonly expectedSha256?: string | null | undefined
  readonly expectedTag?: string | undefined
  readonly createParents?: boolean | undefined
  /** Permission bits. */
  readonly bits?: number | undefined
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly noFollow?: boolean | undefined
  readonly recursive?: boolean | undefined
  readonly overwrite?: boolean | undefined
  readonly target?: string | undefined
  readonly maxDepth?: number | undefined
}

/** An operation on files: the tool whose rules apply to it, and what it does. */
export interface FileOperation {
  readonly tool: string
  readonly permission: Permission
  plan(input: OperationInput): readonly Access[]
  /** @param bytes those of `content`, or the parts of a content that is not in memory */
  run(files: StepFiles, input: OperationInput, bytes: Content): Promise<object>
}

/** What an operation writes. */
export type Content = Uint8Array | AsyncIterable<Uint8Array>

export type OperationName = keyof typeof operations

/** Returns the step that an operation is. */
export function stepOf(name: OperationName, input: OperationInput, bytes: Content = NO_BYTES): FileStep<object> {
  const { tool, plan, run }: FileOperation = operations[name]
  return {
    tool,
    input: input as unknown as Readonly<Record<string, unknown>>,
    accesses: plan(input),
    run: (files) => run(files, input, bytes),
  }
}

const NO_BYTES = new Uint8Array()

/** The function in the result of `stat` that records that its metadata is used. */
const NOTE = Symbol('note')

/**
 * Returns the result of an operation. The metadata in it is labelled when it is used for the first time: most programs use only
 * the type of an entry.
 */
export function observeMetadata<R extends object>(result: R): R {
  const { stat, [NOTE]: note } = result as { readonly stat?: FileStat; readonly [NOTE]?: () => void }
  if (stat === undefined || note === undefined || stat.type === 'directory') return result
  const { path, type } = stat
  const observed = { path, type }
  for (const name of ['size', 'mode', 'modifiedAt', 'tag'] as const) {
    if (stat[name] === undefined) continue
    const get = () => {
      note()
      return stat[name]
    }
    Object.defineProperty(observed, name, { enumerable: true, get })
  }
  return { ...result, stat: observed }
}

const reads = {
  readBytes: {
    ...readOperations.readBytes,
    async run(step, { path, start, end }) {
      const { bytes, tag } = await readRange(step, path, start, end)
      if (tag !== undefined) (await step.observe(targetOf(step).path, { type: 'file', tag }))()
      return { path, bytes, tag }
    },
  },
  stat: {
    ...readOperations.stat,
    async run({ drafts, noteMetadata, observe, ...step }) {
      const access = targetOf(step)
      const { path } = access
      const stat = await drafts.stat(path)
      const observeVersion = await observe(path, stat)
      if (stat === undefined) return {}
      const shown = { stat: shownStat(access, stat) }
      if (access.classification.redacted) return shown
      const note = () => {
        observeVersion()
        noteMetadata(path)
      }
      return { ...shown, [NOTE]: note }
    },
  },
  readLink: {
    ...readOperations.readLink,
    async run(step, { path }) {
      const link = targetOf(step).path
      const observeVersion = await step.observe(link, await step.drafts.stat(link))
      const target = await step.files.readLink(path)
      observeVersion()
      return { path, target }
    },
  },
  realPath: {
    ...readOperations.realPath,
    run: async ({ files }, { path }) => ({ path, target: await files.realPath(path) }),
  },
  entries: {
    ...readOperations.entries,
    run: async ({ files }, { path }) => ({ path, entries: await files.list(path) }),
  },
  walk: {
    ...readOperations.walk,
    async run(step, { path, maxDepth = Number.POSITIVE_INFINITY }) {
      const entries: { path: Path; type: EntryType }[] = []
      await addEntries(step, targetOf(step).path, maxDepth, entries)
      return { path, entries }
    },
  },
} as const satisfies Readonly<Record<string, FileOperation>>

const writes = {
  write: {
    tool: 'write_file',
    permission: 'file:write:replace',
    plan: ({ path, expectedSha256, expectedTag }) => [
      { permission: 'file:write', path, ...comparing(expectedSha256) },
      // A tag is metadata.
      ...(expectedTag === undefined ? [] : [{ permission: 'file:info' as const, path }]),
    ],
    run: (step, input, bytes) => writeBytes(step, input, bytes, false),
  },
  append: {
    tool: 'append_file',
    permission: 'file:append',
    plan: ({ path }) => [{ permission: 'file:append', path, reveals: true }],
    run: (step, input, bytes) => writeBytes(step, input, bytes, true),
  },
  setMode: {
    tool: 'write_file',
    permission: 'file:write:replace',
    plan: ({ path }) => [{ permission: 'file:write:replace', path }],
    async run({ files }, { path, bits = 0 }) {
      await files.setMode(path, bits)
      return { path }
    },
  },
  makeDirectory: {
    tool: 'create_directory',
    permission: 'file:write:create',
    plan: ({ path }) => [{ permission: 'file:write:create', path }],
    async run(step, { path, recursive = true }) {
      const target = targetOf(step).path
      const created = (await step.drafts.stat(target)) === undefined
      if (recursive) await step.createParents(target)
      await step.files.makeDirectory(path, { mayExist: recursive })
      return { path, created }
    },
  },
  link: {
    tool: 'write_file',
    permission: 'file:write:create',
    plan: ({ path }) => [{ permission: 'file:write:create', path, noFollow: true }],
    async run({ files }, { path, target = '' }) {
      await files.link(path, target)
      return { path, target }
    },
  },
} as const satisfies Readonly<Record<string, FileOperation>>

const removals = {
  delete: {
    tool: 'delete_file',
    permission: 'file:delete',
    plan: ({ path, recursive = false, expectedSha256 }) => [
      { permission: 'file:delete', path, noFollow: true, recursive, ...comparing(expectedSha256) },
    ],
    async run(step, { path, recursive = false, expectedSha256 }) {
      const target = targetOf(step).path
      const stat = await step.drafts.stat(target)
      if (stat === undefined) throw notFound(target)
      if (expectedSha256 !== undefined) await expectVersion(step, target, expectedSha256)
      if (stat.type === 'directory' && !recursive && (await step.drafts.list(target)).length > 0) {
        throw new ToolError('DIRECTORY_NOT_EMPTY', `Cannot delete ${quote(target)}: it is not empty`, { path: target })
      }
      await step.files.remove(path)
      return { path }
    },
  },
  rename: {
    tool: 'move_file',
    permission: 'file:move',
    plan: ({ path, to = '' }) => [
      { permission: 'file:move', path, noFollow: true, recursive: true, reveals: true },
      { permission: 'file:move', path: to, noFollow: true, recursive: true },
    ],
    async run(step, { path, to = '', overwrite = false, createParents = true }) {
      const [source, target] = [targetOf(step).path, targetOf(step, 1).path]
      if (!overwrite && source !== target) await requireFree(step, target, source)
      if (createParents && (await step.drafts.stat(source)) !== undefined) await step.createParents(target)
      await step.files.rename(path, to)
      return { path, to }
    },
  },
  copy: {
    tool: 'copy_file',
    permission: 'file:copy',
    plan: ({ path, to = '' }) => [
      { permission: 'file:copy', path, isSource: true, reveals: true, noFollow: true, recursive: true },
      { permission: 'file:copy', path: to, noFollow: true, recursive: true },
    ],
    async run(step, { path, to = '', overwrite = false, createParents = true }) {
      const [source, target] = [targetOf(step).path, targetOf(step, 1).path]
      if (isWithin(target, source)) {
        throw new ToolError('INVALID_INPUT', `Cannot copy ${quote(path)} into itself`, { path, field: 'to' })
      }
      if (!overwrite) await requireFree(step, target, source)
      if (createParents && (await step.drafts.stat(source)) !== undefined) await step.createParents(target)
      await copyTree(step, source, target)
      return { path, to }
    },
  },
} as const satisfies Readonly<Record<string, FileOperation>>

/** The operations by the name of their method. */
export const operations = { ...reads, ...writes, ...removals }

/** Returns an access of a step, by its place in the plan. */
function targetOf({ accesses }: Pick<StepFiles, 'accesses'>, index = 0): GuardedAccess {
  const target = accesses[index]
  if (target === undefined) throw new TypeError(`the operation planned no access ${index}`)
  return target
}

async function writeBytes(
  step: StepFiles,
  { path, createParents = true, expectedSha256, expectedTag, bits }: OperationInput,
  bytes: Content,
  append: boolean,
): Promise<object> {
  const target = targetOf(step).path
  if (expectedTag !== undefined) await expectTag(step, targetOf(step), expectedTag)
  if (isUint8Array(bytes)) await refuseMarks(step.drafts, target, bytes)
  if (expectedSha256 !== undefined) await expectVersion(step, target, expectedSha256)
  if (createParents) await step.createParents(target)
  if (!isUint8Array(bytes) || (await isLarge(step, target))) {
    const { writeParts } = await import('./large-files.ts')
    const parts = isUint8Array(bytes) ? [bytes] : bytes
    return { path, newSha256: await writeParts(step, { path, bits, append }, parts) }
  }
  await step.files.write(path, bytes, { append, ...(bits === undefined ? {} : { mode: bits }) })
  const state = append ? await stateAt(step.drafts, target) : undefined
  return { path, newSha256: sha256(state?.type === 'file' ? state.bytes : bytes) }
}

/** Whether a file is too large to be read into memory, and need not be. */
async function isLarge({ drafts, stage }: StepFiles, path: Path): Promise<boolean> {
  if (stage === undefined) return false
  const stat = await drafts.stat(path)
  return stat?.type === 'file' && stat.size > largeBounds.fileBytes
}

/** Requires a version of a file, now and when the change is committed. */
async function expectVersion(step: StepFiles, path: Path, expected: string | null): Promise<void> {
  checkVersion(path, expected, await currentVersion(step, path))
  step.expectVersion(path, expected)
}

/** Requires the version of a file that has a tag, now and when the change is committed. */
async function expectTag(step: StepFiles, access: GuardedAccess, expected: string): Promise<void> {
  const { path } = access
  const current = await currentVersion(step, path)
  const stat = await step.drafts.stat(path)
  // A directory has no version.
  const isSame = stat !== undefined && stat.type !== 'directory' && shownStat(access, stat).tag === expected
  checkVersion(path, isSame ? current : NO_VERSION, current)
  step.expectVersion(path, current)
}

async function currentVersion({ drafts }: StepFiles, path: Path): Promise<string | null> {
  const version = await versionAt(drafts, path)
  return version?.type === 'file' ? version.sha256 : null
}

/** A hash that no content has. */
const NO_VERSION = ''

/** @throws ToolError `ALREADY_EXISTS` */
async function requireFree({ drafts }: StepFiles, path: Path, source: Path): Promise<void> {
  const existing = await drafts.stat(path)
  if (existing !== undefined) throw alreadyThere(path, existing.type, source)
}

async function copyTree(step: StepFiles, from: Path, to: Path): Promise<void> {
  const { files, drafts } = step
  const stat = await drafts.stat(from)
  if (stat === undefined) throw notFound(from)
  ;(await step.observe(from, stat))()
  if (stat.type === 'file') {
    await files.copy(from, to, stat.mode === undefined ? {} : { mode: stat.mode })
  } else if (stat.type === 'link') {
    const target = await files.readLink(from)
    if ((await drafts.stat(to)) !== undefined) await files.remove(to)
    await files.link(to, target)
  } else if (stat.type === 'directory') {
    await requireListed(step, from)
    await files.makeDirectory(to, { mayExist: true })
    for (const { name } of await files.list(from)) await copyTree(step, childOf(from, name), childOf(to, name))
  } else {
    throw new ToolError('PATH_REJECTED', `${quote(from)} is not a regular file`, { path: from })
  }
}

/** A copy without the hidden entries of a directory would pass for a whole one. */
async function requireListed({ files, drafts }: StepFiles, path: Path): Promise<void> {
  const [all, visible] = [await drafts.list(path), await files.list(path)]
  if (all.length === visible.length) return
  throw new ToolError('POLICY_DENIED', `Cannot copy ${quote(path)}: it contains files that policy hides`, {
    path,
    hint: 'Copy the entries that can be listed, one by one.',
  })
}

async function addEntries(
  step: StepFiles,
  directory: Path,
  depth: number,
  entries: { path: Path; type: EntryType }[],
): Promise<void> {
  if (depth <= 0) return
  for (const { name, type } of await step.files.list(directory === '' ? '.' : directory)) {
    const path = childOf(directory, name)
    entries.push({ path, type })
    if (type !== 'directory') continue
    await addEntries(step, path, depth - 1, entries).catch((error: unknown) => {
      // Others may have created a name that no operation opens. Its directory is listed, and not what is in it.
      if (!(error instanceof ToolError && error.code === 'PATH_REJECTED')) throw error
    })
  }
}
