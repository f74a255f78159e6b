import * as z from 'zod'
import { ToolError } from '../errors.ts'
import { sha256 } from '../files/hash/sha256.ts'
import { utf8Length } from '../files/text/utf8-length.ts'
import type { Limits } from '../limits.ts'
import type { FileChange } from '../patch/file-change.ts'
import { type PatchPlan, planPatch } from '../patch/plan.ts'
import { display, isWithin, type LogicalPath, parsePath, quote } from '../paths/logical-path.ts'
import type { Access, ContentProtection } from '../policy/access.ts'
import type { Receipt } from '../storage/backend.ts'
import { defineTool, type ToolContext } from './define-tool.ts'
import { reason, sha256Field } from './shared/fields.ts'
import { type PatchedTree, patchTree } from './shared/patch-tree.ts'

const input = z.strictObject({
  patch: z.string().describe('Unified diff, or a patch from *** Begin Patch to *** End Patch'),
  expectedSha256s: z
    .record(z.string(), sha256Field.nullable())
    .optional()
    .describe('sha256 of the version you read, by path; null: the file must not exist'),
  expectedBaseCommit: z
    .string()
    .regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/, 'must be a full commit id in lowercase hex')
    .optional()
    .describe('Commit that the patch was made on'),
  dryRun: z.boolean().default(false).describe('Check everything, change nothing'),
  reason,
})

const output = z.object({
  applied: z.boolean().describe('false after a dry run'),
  filesTouched: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(['create', 'modify', 'delete']),
      oldSha256: z.string().nullable(),
      newSha256: z.string().nullable(),
    }),
  ),
  insertions: z.number(),
  deletions: z.number(),
  newWorkspaceDiffSha256: z
    .string()
    .nullable()
    .describe('diffSha256 of diff_workspace after this; null after a dry run, and where diff_workspace is not open'),
})

/** Many files changed by one patch, all or none. */
export const applyPatch = defineTool({
  name: 'apply_patch',
  title: 'Apply patch',
  description:
    'Apply a patch to one or many files, all or none: a unified diff (git style, a/ and b/ before names) or *** Begin Patch. Context must match exactly; an offset is fine.',
  input,
  output,
  permission: 'file:patch:apply',
  mutates: true,
  idempotent: false,
  plan: (asked) => accessesOf(planOf(asked)),
  async draft(asked, context) {
    const plan = planOf(asked)
    checkBudget(plan, asked.patch, context.limits)
    if (asked.expectedBaseCommit !== undefined) await checkBase(asked.expectedBaseCommit, context)
    const made = await patchTree(context, plan, expectedOf(asked.expectedSha256s, plan))
    checkCount('deletions', made.deletions, context.limits.patchDeletions)
    const files = made.files.length === 1 ? display(made.files[0]?.path as LogicalPath) : `${made.files.length} files`
    return {
      summary: `${asked.dryRun ? 'Would patch' : 'Patched'} ${files} (+${plan.insertions} -${made.deletions})`,
      changes: made.changes,
      dryRun: asked.dryRun,
      shown: (receipt) => (asked.dryRun ? [] : made.shown(receipt)),
      result: async (receipt) => ({
        applied: !asked.dryRun,
        filesTouched: touchedFiles(made, receipt),
        insertions: plan.insertions,
        deletions: made.deletions,
        newWorkspaceDiffSha256: asked.dryRun ? null : ((await context.workspaceDiffSha256()) ?? null),
      }),
    }
  },
})

/** The files with their versions; those of a dry run are not stored yet. */
function touchedFiles({ files }: PatchedTree, { applied }: Receipt) {
  const stored = new Map(applied.map(({ path, after }) => [path, after?.type === 'file' ? after.sha256 : null]))
  return files.map(({ path, stored: at, before, after, oldSha256 }) => ({
    path,
    kind: before === null ? ('create' as const) : after === null ? ('delete' as const) : ('modify' as const),
    oldSha256,
    newSha256: after === null ? null : (stored.get(at) ?? sha256(after)),
  }))
}

/** A call is planned and then drafted from the same input: it is parsed once. */
const plans = new WeakMap<object, PatchPlan>()

function planOf(asked: { readonly patch: string }): PatchPlan {
  let plan = plans.get(asked)
  if (plan === undefined) {
    plan = planPatch(asked.patch)
    plans.set(asked, plan)
  }
  return plan
}

/** One access for every path in any header, in the order of the plan's paths. */
function accessesOf({ changes, paths }: PatchPlan): Access[] {
  const touched = new Map<LogicalPath, Set<ContentProtection>>()
  const removed = new Set<LogicalPath>()
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
    const below = removed.size === 0 ? undefined : removedAbove(path, removed)
    return {
      permission: 'file:patch:apply',
      path,
      ...(protections === undefined ? {} : { protections: [...protections] }),
      ...(below === undefined ? {} : { removedAncestor: below }),
    }
  })
}

/** Bits that a patch sets, and bytes that nobody can review, are judged apart from where they are. */
function protectionsOf({ kind, oldMode, newMode, body }: FileChange<LogicalPath>): ContentProtection[] {
  const setsMode = kind === 'create' ? newMode === 0o755 : newMode !== undefined && newMode !== oldMode
  return [...(setsMode ? (['mode'] as const) : []), ...(body.type === 'binary' ? (['binary'] as const) : [])]
}

/** The file above a path that the same patch takes away, where there is one. */
function removedAbove(path: LogicalPath, removed: ReadonlySet<LogicalPath>): LogicalPath | undefined {
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
    const above = path.slice(0, slash) as LogicalPath
    if (removed.has(above) && isWithin(path, above)) return above
  }
  return undefined
}

function checkBudget(plan: PatchPlan, patch: string, limits: Limits): void {
  // Every unit takes one to three bytes, so that they are mostly not to be counted.
  const { patchBytes } = limits
  if (patch.length > patchBytes) checkCount('bytes', patch.length, patchBytes)
  if (patch.length * 3 > patchBytes) checkCount('bytes', utf8Length(patch), patchBytes)
  checkCount('files', plan.paths.length, limits.patchFiles)
  checkCount('deletes', plan.deletes, limits.patchDeletes)
  checkCount('insertions', plan.insertions, limits.patchInsertions)
  checkCount('deletions', plan.deletions, limits.patchDeletions)
}

type Budget = 'bytes' | 'files' | 'deletes' | 'insertions' | 'deletions'

const budgets: Readonly<Record<Budget, readonly [limit: keyof Limits, what: string]>> = {
  bytes: ['patchBytes', 'has BYTES bytes'],
  files: ['patchFiles', 'touches BYTES files'],
  deletes: ['patchDeletes', 'deletes BYTES files'],
  insertions: ['patchInsertions', 'adds BYTES lines'],
  deletions: ['patchDeletions', 'removes BYTES lines'],
}

function checkCount(budget: Budget, value: number, most: number): void {
  if (value <= most) return
  const [limit, what] = budgets[budget]
  throw new ToolError(
    'PATCH_BUDGET_EXCEEDED',
    `Cannot apply the patch: it ${what.replace('BYTES', String(value))}, over the budget of ${most}`,
    { limit, value, budget: most },
  )
}

async function checkBase(expected: string, context: Pick<ToolContext, 'headCommit'>): Promise<void> {
  const head = await context.headCommit?.()
  if (head === undefined) {
    throw new ToolError('INVALID_INPUT', 'Cannot check expectedBaseCommit: this workspace has no git commit', {
      field: 'expectedBaseCommit',
      hint: 'Leave expectedBaseCommit out, and give expectedSha256s instead.',
    })
  }
  if (head === expected) return
  throw new ToolError('WRITE_CONFLICT', 'Cannot apply the patch: it was made on another commit than the present one', {
    currentBaseCommit: head,
    hint: 'Make the patch again from the present files.',
  })
}

function expectedOf(
  given: Readonly<Record<string, string | null>> | undefined,
  { paths }: PatchPlan,
): ReadonlyMap<LogicalPath, string | null> {
  const expected = new Map<LogicalPath, string | null>()
  const known = new Set(paths)
  for (const [name, version] of Object.entries(given ?? {})) {
    const path = parsePath(name)
    if (!known.has(path)) {
      throw new ToolError('INVALID_INPUT', `Cannot expect a version of ${quote(path)}: the patch does not name it`, {
        field: 'expectedSha256s',
      })
    }
    expected.set(path, version)
  }
  return expected
}
