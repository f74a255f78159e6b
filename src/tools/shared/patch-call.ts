import { ToolError } from '../../errors.ts'
import { sha256 } from '../../files/hash/sha256.ts'
import { utf8Length } from '../../files/text/utf8-length.ts'
import type { DiffRequest } from '../../git/workspace-diff.ts'
import type { Limits } from '../../limits.ts'
import type { FileChange } from '../../patch/file-change.ts'
import { type PatchPlan, planPatch } from '../../patch/plan.ts'
import { display, isWithin, type LogicalPath, parsePath, quote } from '../../paths/logical-path.ts'
import type { Access, ContentProtection } from '../../policy/access.ts'
import type { Receipt } from '../../storage/backend.ts'
import type { BuiltinContext, BuiltinDraft } from '../builtin-tool.ts'
import { comparing, type Expected } from './expected-version.ts'
import { type PatchedTree, patchTree } from './patch-tree.ts'

/** The input of `apply_patch`. */
interface PatchInput {
  readonly patch: string
  readonly expectedSha256s?: Readonly<Record<string, string | null>> | undefined
  readonly expectedBaseCommit?: string | undefined
  readonly dryRun: boolean
}

/** The result fields of `apply_patch`. */
interface PatchOutput {
  applied: boolean
  filesTouched: {
    path: string
    kind: 'create' | 'modify' | 'delete'
    oldSha256: string | null
    newSha256: string | null
  }[]
  insertions: number
  deletions: number
  newWorkspaceDiffSha256: string | null
}

/** Returns the accesses of a patch. */
export function planPatchCall(input: PatchInput): readonly Access[] {
  const plan = planOf(input)
  return accessesOf(plan, expectedOf(input.expectedSha256s, plan))
}

/** Applies a patch to the files of a call. */
export async function draftPatchCall(input: PatchInput, context: BuiltinContext): Promise<BuiltinDraft<PatchOutput>> {
  const plan = planOf(input)
  checkBudget(plan, input.patch, context.limits)
  if (input.expectedBaseCommit !== undefined) await checkBase(input.expectedBaseCommit, context)
  const patched = await patchTree(context, plan, expectedOf(input.expectedSha256s, plan))
  checkCount('deletions', patched.deletions, context.limits.patchDeletions)
  const files =
    patched.files.length === 1 ? display(patched.files[0]?.path as LogicalPath) : `${patched.files.length} files`
  return {
    summary: `${input.dryRun ? 'Would patch' : 'Patched'} ${files} (+${plan.insertions} -${patched.deletions})`,
    changes: patched.changes,
    dryRun: input.dryRun,
    shown: (receipt) => (input.dryRun ? [] : patched.shown(receipt)),
    result: async (receipt) => ({
      applied: !input.dryRun,
      filesTouched: touchedFiles(patched, receipt),
      insertions: plan.insertions,
      deletions: patched.deletions,
      newWorkspaceDiffSha256: input.dryRun
        ? null
        : ((await context.workspaceDiffSha256(patchedFiles(patched))) ?? null),
    }),
  }
}

function patchedFiles({ files }: PatchedTree): DiffRequest['patched'] {
  return new Map(files.flatMap(({ stored, patched }) => (patched === undefined ? [] : [[stored, patched]])))
}

/** Returns the files with their versions. A dry run stores nothing, so its new versions are computed here. */
function touchedFiles({ files }: PatchedTree, { applied }: Receipt) {
  const stored = new Map(applied.map(({ path, after }) => [path, after?.type === 'file' ? after.sha256 : null]))
  return files.map(({ path, stored: at, before, after, oldSha256 }) => ({
    path,
    kind: before === null ? ('create' as const) : after === null ? ('delete' as const) : ('modify' as const),
    oldSha256,
    newSha256: after === null ? null : (stored.get(at) ?? sha256(after)),
  }))
}

/** Parsed patches by input: `plan` and `draft` receive the same input object, which is parsed once. */
const plans = new WeakMap<object, PatchPlan>()

function planOf(input: { readonly patch: string }): PatchPlan {
  let plan = plans.get(input)
  if (plan === undefined) {
    plan = planPatch(input.patch)
    plans.set(input, plan)
  }
  return plan
}

/** Returns one access for each path in a header, in the order of the plan's paths. */
function accessesOf({ changes, paths }: PatchPlan, expected: ReadonlyMap<LogicalPath, Expected>): Access[] {
  const touched = new Map<LogicalPath, Set<ContentProtection>>()
  const removed = new Set<LogicalPath>()
  // A hunk fits or not, and a conflict quotes the lines of the file.
  const read = new Set(changes.map(({ oldPath }) => oldPath))
  for (const change of changes) {
    if (change.oldPath !== null && change.oldPath !== change.newPath && change.kind !== 'copy')
      removed.add(change.oldPath)
    for (const protection of protectionsOf(change)) {
      for (const path of [change.oldPath, change.newPath]) {
        if (path === null) continue
        const protections = touched.get(path)
        if (protections === undefined) touched.set(path, new Set([protection]))
        else protections.add(protection)
      }
    }
  }
  return paths.map((path) => {
    const protections = touched.get(path)
    const removedAncestor = removed.size === 0 ? undefined : removedAncestorOf(path, removed)
    return {
      permission: 'file:patch:apply',
      path,
      ...(read.has(path) ? { reveals: true } : comparing(expected.get(path))),
      ...(protections === undefined ? {} : { protections: [...protections] }),
      ...(removedAncestor === undefined ? {} : { removedAncestor }),
    }
  })
}

/** Returns the protections that apply to the content of a change: file modes, and bytes that nobody can review. */
function protectionsOf({ kind, oldMode, newMode, body }: FileChange<LogicalPath>): ContentProtection[] {
  const setsMode = kind === 'create' ? newMode === 0o755 : newMode !== undefined && newMode !== oldMode
  return [...(setsMode ? (['mode'] as const) : []), ...(body.type === 'binary' ? (['binary'] as const) : [])]
}

/** Returns the ancestor of a path that the same patch removes, if any. */
function removedAncestorOf(path: LogicalPath, removed: ReadonlySet<LogicalPath>): LogicalPath | undefined {
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
    const above = path.slice(0, slash) as LogicalPath
    if (removed.has(above) && isWithin(path, above)) return above
  }
  return undefined
}

function checkBudget(plan: PatchPlan, patch: string, limits: Limits): void {
  // A UTF-16 unit takes one to three bytes, so most patches need no exact count.
  const { patchBytes } = limits
  if (patch.length > patchBytes) checkCount('bytes', patch.length, patchBytes)
  if (patch.length * 3 > patchBytes) checkCount('bytes', utf8Length(patch), patchBytes)
  checkCount('files', plan.paths.length, limits.patchFiles)
  checkCount('deletes', plan.deletes, limits.patchDeletes)
  checkCount('insertions', plan.insertions, limits.patchInsertions)
  checkCount('deletions', plan.deletions, limits.patchDeletions)
}

type Budget = 'bytes' | 'files' | 'deletes' | 'insertions' | 'deletions'

const budgets: Readonly<Record<Budget, readonly [limit: keyof Limits, description: string]>> = {
  bytes: ['patchBytes', 'has COUNT bytes'],
  files: ['patchFiles', 'touches COUNT files'],
  deletes: ['patchDeletes', 'deletes COUNT files'],
  insertions: ['patchInsertions', 'adds COUNT lines'],
  deletions: ['patchDeletions', 'removes COUNT lines'],
}

function checkCount(budget: Budget, value: number, maxValue: number): void {
  if (value <= maxValue) return
  const [limit, description] = budgets[budget]
  throw new ToolError(
    'PATCH_BUDGET_EXCEEDED',
    `Cannot apply the patch: it ${description.replace('COUNT', String(value))}, over the budget of ${maxValue}`,
    { limit, value, budget: maxValue },
  )
}

async function checkBase(expected: string, context: Pick<BuiltinContext, 'headCommit'>): Promise<void> {
  const head = await context.headCommit?.()
  if (head === undefined) {
    throw new ToolError('INVALID_INPUT', 'Cannot check expectedBaseCommit: this workspace has no git commit', {
      field: 'expectedBaseCommit',
      hint: 'Use expectedSha256s instead of expectedBaseCommit.',
    })
  }
  if (head === expected) return
  const problem =
    expected.length < 40
      ? `this run was shown no commit that begins with ${expected}`
      : 'it is based on another commit than the current one'
  throw new ToolError('WRITE_CONFLICT', `Cannot apply the patch: ${problem}`, {
    currentBaseCommit: head,
    hint: 'Create the patch again from the current files.',
  })
}

function expectedOf(
  versions: Readonly<Record<string, string | null>> | undefined,
  { paths }: PatchPlan,
): ReadonlyMap<LogicalPath, string | null> {
  const expected = new Map<LogicalPath, string | null>()
  const patchPaths = new Set(paths)
  for (const [name, version] of Object.entries(versions ?? {})) {
    const path = parsePath(name)
    if (!patchPaths.has(path)) {
      throw new ToolError('INVALID_INPUT', `Cannot expect a version of ${quote(path)}: the patch does not contain it`, {
        field: 'expectedSha256s',
      })
    }
    expected.set(path, version)
  }
  return expected
}
