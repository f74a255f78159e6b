import * as z from 'zod'
import { isOverlay, type OverlayBackend } from '../backends/overlay/index.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { ToolError } from '../errors.ts'
import type { JournalEntry } from '../history/journal.ts'
import { invertEntries, planRevert, type RevertTarget } from '../history/revert.ts'
import { ancestorsOf, GIT_DIRECTORY, isWithin, type Path, quote } from '../paths/logical-path.ts'
import type { Access } from '../policy/access.ts'
import type { Backend, Change, EntryState, Version } from '../storage/backend.ts'
import { type BuiltinContext, type BuiltinDraft, defineBuiltinTool } from '../tools/builtin-tool.ts'
import type { Tool } from '../tools/define-tool.ts'

/**
 * What a workspace does beside its tools, in the shape of tools, so that it takes the same way: guard, policy, approval,
 * audit, and the one commit. Models are not told of them.
 */

const outcome = z.object({ paths: z.array(z.string()), kept: z.array(z.string()) })

/** Takes back one call. `run`: only a call of that run. */
export function undoOperation({ journal, backend }: WorkspaceState, run: RunState | undefined): Tool {
  const input = z.object({ callId: z.string(), reason: z.string().optional() })
  function entryOf(callId: string): JournalEntry {
    const entry = journal.find(callId)
    if (entry !== undefined && (run === undefined || entry.runId === run.id)) return entry
    throw new ToolError('NOT_FOUND', `Cannot undo ${quote(callId)}: no such call has changed anything here`, {
      hint: 'Give the callId of a result of this run that changed something.',
    })
  }
  return returning('undo', 'Undo a call', input, backend, ({ callId }) => {
    const entry = entryOf(callId)
    const what = `undo ${quote(callId)}`
    return { what, done: `Undid ${entry.tool} (${callId})`, ways: invertEntries(what, [entry]) }
  })
}

/** Takes back everything since a checkpoint. `run`: only calls of that run. */
export function rollbackOperation({ journal, backend }: WorkspaceState, run: RunState | undefined): Tool {
  const input = z.object({ checkpoint: z.string(), reason: z.string().optional() })
  return returning('rollback', 'Roll back to a checkpoint', input, backend, ({ checkpoint: id }) => {
    const what = `roll back to ${quote(id)}`
    const checkpoint = journal.checkpoints().find((one) => one.id === id && (run === undefined || one.runId === run.id))
    if (checkpoint === undefined) {
      throw new ToolError('NOT_FOUND', `Cannot ${what}: there is no such checkpoint`, {
        hint: 'Give the id of one of the checkpoints.',
      })
    }
    const entries = journal.since(checkpoint.mark)
    if (entries === undefined) {
      throw new ToolError('LIMIT_EXCEEDED', `Cannot ${what}: the history does not reach back so far`, {
        limit: 'journalBytes',
        hint: 'Undo the latest calls one by one, or change the files by hand.',
      })
    }
    const own = run === undefined ? entries : entries.filter(({ runId }) => runId === run.id)
    return { what, done: `Rolled back to ${id}`, ways: invertEntries(what, own) }
  })
}

/** Applies an overlay to what lies below. `pending` is what it held when the call began. */
export function acceptOperation({ backend, origin }: WorkspaceState, pending: readonly Change[]): Tool {
  const input = z.object({ reason: z.string().optional() })
  return defineBuiltinTool({
    ...shared,
    name: 'commit',
    title: 'Commit the overlay',
    description: 'Applies the changes of the overlay to what lies below.',
    input,
    output: z.object({ paths: z.array(z.string()) }),
    plan() {
      requireOverlay(backend)
      return accessesOf(
        pending.map(({ path, expect, to }) => ({ path, now: to, to, isNew: expect === 'absent' })),
        true,
      )
    },
    async draft(): Promise<BuiltinDraft<{ paths: string[] }>> {
      const above = requireOverlay(backend)
      const { lower } = above
      const paths = pending.map(({ path }) => path)
      return {
        summary: pending.length === 0 ? 'Nothing to commit' : `Committed ${pending.length} changes of the overlay`,
        changes: pending,
        target: {
          stat: (path) => lower.stat(path),
          read: (path, range) => lower.read(path, range),
          readLink: (path) => lower.readLink(path),
          async commit(changes, options) {
            await origin?.diffs.beforeCommit(changes)
            for (const fork of origin?.commitListeners ?? []) if (fork !== above) await fork.hold(changes)
            return above.accept(changes, options)
          },
        },
        result: () => ({ paths }),
      }
    },
  }) as unknown as Tool
}

function requireOverlay(backend: Backend): OverlayBackend {
  if (isOverlay(backend)) return backend
  throw new ToolError('INVALID_INPUT', 'Cannot commit: the files of this workspace are no overlay', {
    hint: 'Open the workspace over overlay(...), or fork one.',
  })
}

/**
 * Brings files to what a commit holds. Judged path by path like any other change: what policy protects, generated files
 * and lockfiles too, needs a rule that lifts it, such as `{ tools: ['git_checkout'], action: 'allow', overrides: [...] }`.
 */
export function checkoutOperation(changes: readonly Change[], what: string): Tool {
  // Files that become directories are no hindrance to what will lie below them.
  const opened = new Set(
    changes.filter(({ to, expect }) => to?.type === 'directory' && expect !== 'any').map(({ path }) => path),
  )
  const input = z.object({})
  return defineBuiltinTool({
    ...shared,
    name: 'git_checkout',
    title: 'Check out a commit',
    description: 'Brings the files of the workspace to what a commit holds.',
    input,
    output: z.object({ paths: z.number() }),
    plan: () =>
      accessesOf(
        changes.map(({ path, to, expect }) => ({
          path,
          now: opened.has(path) ? FILE : null,
          to,
          isNew: expect === 'absent' || expect === 'any',
        })),
        false,
      ),
    draft: async () => ({ summary: `Did ${what}`, changes, result: () => ({ paths: changes.length }) }),
  }) as unknown as Tool
}

const FILE = { type: 'file', bytes: new Uint8Array() } as const

const shared = { permission: 'file:write:replace', mutates: true, idempotent: false } as const

interface Plan {
  readonly what: string
  readonly done: string
  readonly ways: readonly RevertTarget[]
}

/** An operation that brings earlier states back. */
function returning<I extends z.ZodObject>(
  name: string,
  title: string,
  input: I,
  backend: Backend,
  planned: (input: z.output<I>) => Plan,
): Tool {
  return defineBuiltinTool({
    ...shared,
    name,
    title,
    description: title,
    input,
    output: outcome,
    plan: (given) =>
      accessesOf(
        planned(given).ways.map(({ path, to, from }) => ({ path, now: from, to, isNew: from === null })),
        true,
      ),
    async draft(given, context: BuiltinContext): Promise<BuiltinDraft<z.input<typeof outcome>>> {
      const { what, done, ways } = planned(given)
      const { changes, kept } = await planRevert(backend, what, ways)
      for (const path of kept) context.warnings.push(`${quote(path)} stays: others have put something into it`)
      const paths = changes.map(({ path }) => path)
      return {
        summary: `${done}: ${paths.length === 1 ? '1 path' : `${paths.length} paths`} restored`,
        changes,
        result: () => ({ paths, kept: [...kept] }),
      }
    },
  }) as unknown as Tool
}

/** One path of an operation: what shows there now, and what it shall be. */
interface Step {
  readonly path: Path
  readonly now: EntryState | Version
  readonly to: EntryState
  readonly isNew: boolean
}

/** Each path by its name; `withGit`: git's own files are among them only where git itself wrote them. What lies below a file or a link is guarded by that: it leads nowhere now. */
function accessesOf(steps: readonly Step[], withGit: boolean): Access[] {
  const solid = new Set(steps.filter(({ now }) => now !== null && now.type !== 'directory').map(({ path }) => path))
  return steps.map(({ path, to, isNew }) => {
    const below = ancestorsOf(path).findLast((above) => solid.has(above))
    return { ...accessOf(path, to, isNew, withGit), ...(below === undefined ? {} : { removedAncestor: below }) }
  })
}

/** The name itself is meant, whatever a link there leads to. */
function accessOf(path: Path, to: EntryState, isNew: boolean, withGit: boolean): Access {
  if (withGit && isWithin(path, GIT_DIRECTORY)) return { permission: 'git:write', path, noFollow: true }
  const permission = to === null ? 'file:delete' : isNew ? 'file:write:create' : 'file:write:replace'
  return { permission, path, noFollow: true }
}
