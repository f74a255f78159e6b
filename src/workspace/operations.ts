import * as z from 'zod/mini'
import { isOverlay, type OverlayBackend } from '../backends/overlay/index.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { ToolError } from '../errors.ts'
import type { JournalEntry } from '../history/journal.ts'
import { invertEntries, planRevert, type RevertTarget } from '../history/revert.ts'
import { GIT_DIRECTORY, isWithin, nearestFinder, type Path, parentOf, quote } from '../paths/logical-path.ts'
import type { Access } from '../policy/access.ts'
import type { Backend, Change, EntryState, Version } from '../storage/backend.ts'
import { type BuiltinContext, type BuiltinDraft, defineBuiltinTool } from '../tools/builtin-tool.ts'
import type { Tool } from '../tools/define-tool.ts'
import { counted } from '../util/counted.ts'
import type { ObjectSchema } from '../util/object-schema.ts'
import type { MergeConflict, MergedChanges, OverlayCommitOptions } from './merge-pending.ts'

/**
 * The operations of a workspace beside its tools. They have the shape of tools, so that they pass the same guard, policy,
 * approval, audit and commit. They are not listed to models.
 */

const outcome = z.object({ paths: z.array(z.string()), kept: z.array(z.string()) })

/** Reverts one call. With `run`, only a call of that run. */
export function undoOperation({ journal, backend }: WorkspaceState, run: RunState | undefined): Tool {
  const input = z.object({ callId: z.string(), reason: z.optional(z.string()) })
  function entryOf(callId: string): JournalEntry {
    const entry = journal.find(callId)
    if (entry !== undefined && (run === undefined || entry.runId === run.id)) return entry
    throw new ToolError('NOT_FOUND', `Cannot undo ${quote(callId)}: no such call has changed anything`, {
      hint: 'Use the callId of a call of this run that changed something.',
    })
  }
  return revertOperation('undo', 'Undo a call', input, backend, ({ callId }) => {
    const entry = entryOf(callId)
    const action = `undo ${quote(callId)}`
    return { action, summary: `Undid ${entry.tool} (${callId})`, targets: invertEntries(action, [entry]) }
  })
}

/** Reverts everything since a checkpoint. With `run`, only calls of that run; with `runId`, only those of the run of that id. */
export function rollbackOperation({ journal, backend, runIds }: WorkspaceState, run: RunState | undefined): Tool {
  const input = z.object({ checkpoint: z.string(), runId: z.optional(z.string()), reason: z.optional(z.string()) })
  return revertOperation(
    'rollback',
    'Roll back to a checkpoint',
    input,
    backend,
    ({ checkpoint: id, runId = run?.id }) => {
      const action = `roll back to ${quote(id)}`
      const checkpoints = journal.checkpoints()
      const checkpoint = checkpoints.find((each) => each.id === id && (run === undefined || each.runId === run.id))
      if (checkpoint === undefined) {
        throw new ToolError('NOT_FOUND', `Cannot ${action}: the checkpoint does not exist`, {
          hint: 'Use the id of an existing checkpoint.',
        })
      }
      // A run of an earlier workspace may have left checkpoints only.
      if (runId !== undefined && !runIds.has(runId) && !checkpoints.some((each) => each.runId === runId)) {
        throw new ToolError('NOT_FOUND', `Cannot ${action}: no run has the id ${quote(runId)}`, {
          hint: 'Use the id of an existing run.',
        })
      }
      const entries = journal.since(checkpoint.mark)
      if (entries === undefined) {
        throw new ToolError('LIMIT_EXCEEDED', `Cannot ${action}: the undo history does not go back that far`, {
          limit: 'journalBytes',
          hint: 'Undo the latest calls one by one, or change the files by hand.',
        })
      }
      const reverted = runId === undefined ? entries : entries.filter((entry) => entry.runId === runId)
      return { action, summary: `Rolled back to ${id}`, targets: invertEntries(action, reverted) }
    },
  )
}

/**
 * Returns the operation that applies an overlay to its lower backend: the changes that it has now, merged with those below it
 * if that is wanted.
 *
 * @throws ToolError `INVALID_INPUT` for `resolve` without `merge`
 */
export async function openAccept(
  workspace: WorkspaceState,
  merge: boolean,
  resolve: OverlayCommitOptions['resolve'],
): Promise<Tool> {
  if (resolve !== undefined && !merge) {
    throw new ToolError('INVALID_INPUT', 'Option "resolve" of commit() has no effect without "merge"', {
      ...{ field: 'resolve', hint: 'Pass merge: true, or call merge().' },
    })
  }
  const { backend } = workspace
  const pending = isOverlay(backend) ? await backend.pending() : []
  if (!merge || !isOverlay(backend)) return acceptOperation(workspace, { changes: pending })
  const { mergePending } = await import('./merge-pending.ts')
  return acceptOperation(workspace, await mergePending(backend, pending, resolve))
}

function acceptOperation({ backend, origin }: WorkspaceState, accepted: Accepted): Tool {
  const { changes: pending, merged, conflicts = [], resolved } = accepted
  const input = z.object({ reason: z.optional(z.string()) })
  return defineBuiltinTool({
    ...shared,
    name: 'commit',
    title: 'Commit the overlay',
    description: 'Applies the changes of the overlay to the files below it.',
    input,
    output: z.object({ paths: z.array(z.string()), merged: z.optional(z.array(z.string())) }),
    plan() {
      requireOverlay(backend)
      const steps = pending.map(({ path, expect, to }) => ({ path, now: to, to, isNew: expect === 'absent' }))
      return [...accessesOf(steps, true), ...(merged ?? []).map(readAccess)]
    },
    async draft(): Promise<BuiltinDraft<Committed>> {
      const above = requireOverlay(backend)
      if (conflicts.length > 0) throw mergeConflict(conflicts)
      const { lower } = above
      const paths = pending.map(({ path }) => path)
      return {
        summary:
          pending.length === 0 ? 'Nothing to commit' : `Committed ${counted(pending.length, 'change')} of the overlay`,
        changes: pending,
        ...(resolved === undefined ? {} : { givenPaths: resolved }),
        target: {
          stat: (path) => lower.stat(path),
          read: (path, range) => lower.read(path, range),
          readLink: (path) => lower.readLink(path),
          checkPlaces: async (changes) => lower.checkPlaces?.(changes),
          async commit(changes, options) {
            await origin?.diffs.beforeCommit(changes)
            for (const fork of origin?.commitListeners ?? []) if (fork !== above) await fork.hold(changes)
            return above.accept(changes, options)
          },
        },
        result: () => ({ paths, ...(merged === undefined ? {} : { merged: [...merged] }) }),
      }
    },
  }) as unknown as Tool
}

/** What a commit of an overlay applies. `merged`: of a merge, the paths that changed on both sides. */
type Accepted = Pick<MergedChanges, 'changes'> & Partial<MergedChanges>

type Committed = { paths: string[]; merged?: string[] }

/** A merge shows the file below, so it needs the right to read it. */
function readAccess(path: Path): Access {
  return { permission: 'file:read', path, noFollow: true }
}

function mergeConflict(conflicts: readonly MergeConflict[]): ToolError {
  const paths = conflicts.map(({ path }) => path)
  const files = paths.length === 1 ? quote(paths[0] as string) : `${paths.length} files`
  return new ToolError('WRITE_CONFLICT', `Cannot merge ${files}: both sides changed the same place`, {
    ...{ paths, conflicts },
    hint: 'Pass the merged contents as the option resolve of commit(), by path.',
  })
}

function requireOverlay(backend: Backend): OverlayBackend {
  if (isOverlay(backend)) return backend
  throw new ToolError('INVALID_INPUT', 'Cannot commit: the backend of this workspace is not an overlay', {
    hint: 'Create the workspace over overlay(...), or use a fork.',
  })
}

/**
 * Applies the file changes of a checkout. Policy evaluates each path like any other change. A protected path, generated
 * files and lockfiles included, needs a rule that lifts the protection, such as
 * `{ tools: ['git_checkout'], action: 'allow', overrides: [...] }`.
 */
export function checkoutOperation(changes: readonly Change[], action: string): Tool {
  // A file that becomes a directory does not block the paths that the checkout creates below it.
  const becomingDirectories = new Set(
    changes.filter(({ to, expect }) => to?.type === 'directory' && expect !== 'any').map(({ path }) => path),
  )
  const input = z.object({})
  return defineBuiltinTool({
    ...shared,
    name: 'git_checkout',
    title: 'Check out a commit',
    description: 'Replaces the files of the workspace by those of a commit.',
    input,
    output: z.object({ paths: z.number() }),
    plan: () =>
      accessesOf(
        changes.map(({ path, to, expect }) => ({
          path,
          now: becomingDirectories.has(path) ? FILE : null,
          to,
          isNew: expect === 'absent' || expect === 'any',
        })),
        false,
      ),
    draft: async () => ({ summary: `Did ${action}`, changes, result: () => ({ paths: changes.length }) }),
  }) as unknown as Tool
}

const FILE = { type: 'file', bytes: new Uint8Array() } as const

const shared = { permission: 'file:write:replace', mutates: true, idempotent: false } as const

interface Revert {
  /** For messages, such as `undo "c1"`. */
  readonly action: string
  readonly summary: string
  readonly targets: readonly RevertTarget[]
}

/** Creates an operation that restores earlier states. */
function revertOperation<I extends ObjectSchema>(
  name: string,
  title: string,
  input: I,
  backend: Backend,
  resolve: (input: z.output<I>) => Revert,
): Tool {
  return defineBuiltinTool({
    ...shared,
    name,
    title,
    description: title,
    input,
    output: outcome,
    plan: (fields) =>
      accessesOf(
        resolve(fields).targets.map(({ path, to, from }) => ({ path, now: from, to, isNew: from === null })),
        true,
      ),
    async draft(fields, context: BuiltinContext): Promise<BuiltinDraft<z.input<typeof outcome>>> {
      const { action, summary, targets } = resolve(fields)
      const { changes, kept } = await planRevert(backend, action, targets)
      for (const path of kept) context.warnings.push(`${quote(path)} stays: it contains other files`)
      const paths = changes.map(({ path }) => path)
      return {
        summary: `${summary}: ${counted(paths.length, 'path')} restored`,
        changes,
        result: () => ({ paths, kept: [...kept] }),
      }
    },
  }) as unknown as Tool
}

/** The current state of one path of an operation, and the state after it. */
interface Step {
  readonly path: Path
  readonly now: EntryState | Version
  readonly to: EntryState
  readonly isNew: boolean
}

/**
 * Returns the accesses of the steps. A path below a file or link that the operation removes does not exist yet, so it is
 * guarded with that file as its removed ancestor.
 *
 * @param withGit paths in `.git` need `git:write`, because only git can have written them
 */
function accessesOf(steps: readonly Step[], withGit: boolean): Access[] {
  const filesAndLinks = new Set(
    steps.filter(({ now }) => now !== null && now.type !== 'directory').map(({ path }) => path),
  )
  // A file or a link has no other one above it.
  const removedAbove = nearestFinder<Path>((path) => filesAndLinks.has(path))
  return steps.map(({ path, now, to, isNew }) => {
    const removedAncestor = removedAbove(parentOf(path))
    return {
      ...accessOf(path, to, isNew, withGit),
      ...(now?.type === 'link' ? { revertsLink: true } : {}),
      ...(removedAncestor === undefined ? {} : { removedAncestor }),
    }
  })
}

/** The access is to the path itself: a link there is not followed. */
function accessOf(path: Path, to: EntryState, isNew: boolean, withGit: boolean): Access {
  if (withGit && isWithin(path, GIT_DIRECTORY)) return { permission: 'git:write', path, noFollow: true }
  const permission = to === null ? 'file:delete' : isNew ? 'file:write:create' : 'file:write:replace'
  return { permission, path, noFollow: true }
}
