import { ToolError, toFailure } from '../errors.ts'
import { guardLookups } from '../guard/guard-accesses.ts'
import { requireFile } from '../guard/guarded-files.ts'
import { createVisibility, hiddenBy } from '../guard/visibility.ts'
import { childOf, display, type Path, quote, ROOT } from '../paths/logical-path.ts'
import type { ApprovalQuestion } from '../policy/approval.ts'
import { deniedError, requireAllowed } from '../policy/evaluation.ts'
import { CommandGate, shownStat } from '../shells/shared/command-gate.ts'
import { linkLookups, listLookups } from '../shells/shared/command-reads.ts'
import type { DirectoryEntry, EntryType, ReadsNow, Stat } from '../storage/backend.ts'
import { type Lookups, runLookupsNow } from '../storage/lookups.ts'
import type { Tool } from '../tools/define-tool.ts'
import { openCallAudit } from './call-audit.ts'
import { accessKey, evaluateAccess } from './commands/session-state.ts'
import { contextOfFiles } from './files-context.ts'
import { tellsContent } from './pending-approval.ts'
import { type ReadOperation, readOperations } from './read-operations.ts'
import { requireOpen } from './require-open.ts'
import type { AuthorizedCall, CallAudit } from './state/call.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { TaintTracker } from './state/taint-tracker.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

type ReadName = keyof typeof readOperations

/** An entry below a directory. */
export interface WalkedEntry {
  readonly path: string
  readonly type: EntryType
}

/** A call that reads without waiting. */
interface ReadCall {
  readonly reads: ReadsNow
  readonly call: AuthorizedCall
  readonly gate: CommandGate
  readonly taint: TaintTracker
}

/**
 * The reading methods of `workspace.files` without promises, for a storage that has all content in memory. Each is a call with
 * the same steps: guard, rates, policy, labels and audit. What needs an approval is refused, because nothing can wait for one.
 */
export class FilesNow {
  readonly #workspace: WorkspaceState
  readonly #run: RunState

  private constructor({ workspace, run }: { readonly workspace: WorkspaceState; readonly run: RunState }) {
    this.#workspace = workspace
    this.#run = run
  }

  /** Returns the methods for the files of a run, or why there are none. */
  static of(files: object): FilesNow | string {
    const context = contextOfFiles.get(files)
    if (context === undefined) return 'These files are not those of a run'
    const { backend, hooks } = context.workspace
    if (backend.readsNow === undefined) return 'The storage of the workspace does not have all content in memory'
    const hasHooks = hooks.preToolCall !== undefined || hooks.postToolResponse !== undefined
    return hasHooks ? 'The workspace has hooks, for which a call has to wait' : new FilesNow(context)
  }

  readBytes(path: string): Uint8Array {
    return this.#call('readBytes', { path }, ({ reads, gate }) =>
      gate.attemptNow('file:read', path, () => {
        const access = runLookupsNow(reads, gate.reachLookups({ permission: 'file:read', path }))
        requireFile(access.path, reads.stat(access.path))
        const { bytes } = reads.read(access.path)
        gate.options.onRead(access.path, bytes.length)
        return gate.marks.hide(bytes, access.path)
      }),
    )
  }

  stat(path: string, noFollow = false): (Stat & { readonly path: Path }) | undefined {
    return this.#call('stat', noFollow ? { path, noFollow } : { path }, ({ reads, call, taint }) => {
      const [access] = call.accesses
      const stat = access === undefined ? undefined : reads.stat(access.path)
      if (access === undefined || stat === undefined) return undefined
      if (!access.classification.redacted && stat.type !== 'directory') taint.addRead(access.path)
      return shownStat(access, stat)
    })
  }

  entries(path: string): readonly DirectoryEntry[] {
    return this.#call('entries', { path }, ({ reads, gate, taint }) =>
      runLookupsNow(reads, listLookups(gate, path, namesTo(taint))),
    )
  }

  walk(path: string): readonly WalkedEntry[] {
    return this.#call('walk', { path }, ({ reads, call, gate, taint }) => {
      const entries: WalkedEntry[] = []
      const start = call.accesses[0]?.path
      if (start !== undefined) runLookupsNow(reads, walkLookups(gate, start, namesTo(taint), entries))
      return entries
    })
  }

  readLink(path: string): string {
    return this.#call('readLink', { path }, ({ reads, gate, taint }) =>
      runLookupsNow(
        reads,
        linkLookups(gate, path, (link) => taint.addRead(link)),
      ),
    )
  }

  realPath(path: string): string {
    return this.#call('realPath', { path }, ({ reads, gate, taint }) => {
      const { path: real } = runLookupsNow(reads, gate.visibleLookups(path))
      taint.addName(real)
      return real
    })
  }

  /** Runs a call. */
  #call<T>(name: ReadName, input: { readonly path: string; readonly noFollow?: true }, act: (call: ReadCall) => T): T {
    const [workspace, run] = [this.#workspace, this.#run]
    const { tool, permission } = readOperations[name]
    const audit = openCallAudit(workspace, run, tool, { via: `files.${name}` })
    const taint = workspace.openTaintTracker(workspace, run, { callId: audit.id, tool }, true)
    try {
      requireOpen(workspace)
      const reads = (workspace.backend.readsNow as () => ReadsNow)()
      const operation = { name: tool, permission, mutates: false } as Tool
      const call = this.#authorize(operation, readOperations[name], input, reads, audit, taint)
      audit.step = 'draft'
      const gate = this.#openGate(call, audit, taint)
      const requireApproved = () => {
        audit.step = 'approval'
        if (call.verdict.decision === 'ask') this.#requireApproved({ ...call, tool, risks: [] })
      }
      let value: T
      try {
        value = attempt(gate, audit, () => act({ reads, call, taint, gate }))
      } catch (error) {
        if (call.verdict.decision === 'ask' && tellsContent(workspace, run, call, error)) requireApproved()
        throw error
      }
      requireApproved()
      audit.step = 'commit'
      // Records begin in this turn. A read may go on without its record.
      void audit.writeIntent({ changes: [] })
      audit.step = 'response'
      audit.setLabel(taint.labelResult(value), run.taint.origin())
      void audit.writeOutcome()
      return value
    } catch (error) {
      const failure = toFailure(error)
      audit.setLabel(taint.labelFailure(failure), run.taint.origin())
      void audit.writeOutcome(failure)
      const { cause } = failure
      if (cause !== undefined) {
        workspace.events.emit({ type: 'exception', runId: run.id, callId: audit.id, tool, cause })
      }
      throw error
    } finally {
      taint.endCall()
    }
  }

  /** Plan, guard, limits and policy. */
  #authorize(
    tool: Tool,
    { plan }: ReadOperation,
    input: { readonly path: string },
    reads: ReadsNow,
    audit: CallAudit,
    taint: TaintTracker,
  ): AuthorizedCall {
    const { policy } = this.#workspace
    const facts = policyCall(this.#run, tool.name, { ...input }, undefined)
    audit.step = 'plan'
    const planned = plan(input)
    audit.planned = planned
    audit.step = 'guard'
    const guarded = guardLookups(planned, hiddenBy(policy, facts))
    const accesses = runLookupsNow(reads, guarded)
    audit.setAccesses(accesses, {})
    const verdict = policy.evaluate({ ...facts, accesses })
    audit.step = 'limits'
    this.#run.rates.countCall(tool.name)
    audit.isCounted = true
    audit.step = 'policy'
    audit.verdict = verdict
    if (verdict.decision === 'deny') throw deniedError(verdict)
    return taint.beginCall({ tool, input: { ...input }, accesses, verdict })
  }

  #openGate(call: AuthorizedCall, audit: CallAudit, taint: TaintTracker): CommandGate {
    const [workspace, run] = [this.#workspace, this.#run]
    const facts = policyCall(run, call.tool.name, call.input, undefined)
    const approved = new Set(call.accesses.map(accessKey))
    const session = { workspace, run, call, facts, policy: workspace.policy.forCall(facts), approved }
    return new CommandGate({
      ...{ backend: workspace.backend, signal: new AbortController().signal, limits: NO_LIMITS },
      visibility: (kind) => createVisibility(workspace.policy, facts, kind, call.verdict),
      requireAllowed: (access) => requireAllowed(workspace.policy, facts, access),
      judge: (access) => {
        const question = evaluateAccess(session, access)
        if (question !== undefined) this.#requireApproved(question)
      },
      onRead(path, bytes) {
        run.rates.countRead(bytes)
        audit.addRead(path)
        taint.addRead(path)
      },
    })
  }

  /** @throws ToolError `APPROVAL_REQUIRED`, unless it was approved for the run */
  #requireApproved(question: ApprovalQuestion): void {
    if (this.#run.approvals.opened?.covers(question) === true) return
    const path = display(question.accesses[0]?.asked ?? ROOT)
    throw new ToolError('APPROVAL_REQUIRED', `Cannot read ${quote(path)} without waiting: it needs an approval`, {
      path,
      hint: 'Use the function that returns a promise.',
    })
  }
}

/** Runs an action, and records what it was refused. */
function attempt<T>(gate: CommandGate, audit: CallAudit, act: () => T): T {
  try {
    return act()
  } catch (error) {
    for (const refusal of gate.refused) audit.addRefusal(refusal)
    throw error
  }
}

const NO_LIMITS = { treeEntries: Number.POSITIVE_INFINITY, fileBytes: Number.POSITIVE_INFINITY }

function namesTo(taint: TaintTracker): (paths: readonly Path[]) => void {
  return (paths) => {
    for (const path of paths) taint.addName(path)
  }
}

/** Lists everything that shows below a directory, parents first. */
function* walkLookups(
  gate: CommandGate,
  directory: Path,
  noteShown: (paths: readonly Path[]) => void,
  entries: WalkedEntry[],
): Lookups<void> {
  for (const { name, type } of yield* listLookups(gate, display(directory), noteShown)) {
    const path = childOf(directory, name)
    entries.push({ path, type })
    if (type !== 'directory') continue
    try {
      yield* walkLookups(gate, path, noteShown, entries)
    } catch (error) {
      // Others may have created a name that no operation opens. Its directory is listed, and not what is in it.
      if (!(error instanceof ToolError && error.code === 'PATH_REJECTED')) throw error
    }
  }
}
