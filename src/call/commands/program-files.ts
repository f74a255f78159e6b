import type { OverlayBackend } from '../../backends/overlay/index.ts'
import { ToolError } from '../../errors.ts'
import { ancestorsOf, type Path, quote } from '../../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../../policy/access.ts'
import { combineVerdicts, type Verdict } from '../../policy/evaluation.ts'
import { isMutating } from '../../policy/permissions.ts'
import { isLabel } from '../../policy/taint.ts'
import type { TrackedCommandFiles } from '../../shells/shared/command-files.ts'
import type { LargeContents } from '../../shells/shared/command-gate.ts'
import type { Backend, Change, ContentSink, Stat } from '../../storage/backend.ts'
import type { BuiltinContext, BuiltinDraft, Observation } from '../../tools/builtin-tool.ts'
import type { FileScans } from '../../tools/shared/file-scan.ts'
import { isInPlanMode } from '../plan-mode.ts'
import { requireOpen } from '../require-open.ts'
import type { AuthorizedCall } from '../state/call.ts'
import { policyCall, type RunState } from '../state/run-state.ts'
import type { WorkspaceState } from '../state/workspace-state.ts'
import { sessionOptions, type ToolContextOptions } from '../tool-context.ts'
import { accessKey, type SessionState } from './session-state.ts'
import { type FilesTransaction, openSharedFiles, openTransaction, type SharedFiles } from './transaction.ts'

/** One operation of a program on files. */
export interface FileStep<R> {
  /** The tool whose rules apply to the operation. */
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** The accesses that the operation needs in any case. */
  readonly accesses: readonly Access[]
  run(files: StepFiles): Promise<R>
}

/** What a step of a program works on. */
export interface StepFiles {
  /** The files. Each access is evaluated. */
  readonly files: TrackedCommandFiles
  /** The same files without evaluation, with the changes of earlier steps. */
  readonly drafts: OverlayBackend
  /** The accesses of the step, and those to the targets of links. */
  readonly accesses: readonly GuardedAccess[]
  /** Creates the missing directories above a path, for which no rule has to allow anything. */
  createParents(path: Path): Promise<void>
  /** Requires that a path still has this version when the changes are committed. */
  expectVersion(path: Path, sha256: string | null): void
  /**
   * Requires that what the program sees at a path is still there when the changes of a batch are committed. The returned function
   * requires the same version.
   */
  observe(path: Path, stat: Pick<Stat, 'type' | 'tag'> | undefined): Promise<() => void>
  /** Records that the program receives the size, the permission bits or the time of a path, also after the step. */
  noteMetadata(path: Path): void
  /** Records that `bytes` bytes of a file were read from `drafts`. */
  noteRead(path: Path, bytes: number): void
  /** Cancels the call. */
  readonly signal: AbortSignal | undefined
  /** The tags of files that have no secret, by path. Absent if the files may have changes of earlier steps. */
  readonly withoutSecrets?: Map<string, string> | undefined
  /** The searches of large files for secrets. */
  readonly secretScans: FileScans
  /** Stores a content part by part, for `files.writeContent`. Absent if the content has to be in memory. */
  readonly stage?: ((path: Path) => Promise<ContentSink>) | undefined
}

/** The call to which the steps of a program belong. */
export interface ProgramCall {
  readonly workspace: WorkspaceState
  readonly run: RunState
  readonly call: AuthorizedCall
  readonly context: BuiltinContext
  readonly options: ToolContextOptions
}

/** What the steps of a program have done. */
export type FilesDraft = Pick<BuiltinDraft<unknown>, 'changes' | 'accesses' | 'reads' | 'flow' | 'verdict' | 'observed'>

/** The steps of a program on the files of one call. Each sees the changes of those before, until the call commits them. */
export class ProgramFiles {
  readonly #program: ProgramCall
  readonly #approved = new Set<string>()
  readonly #shared: SharedFiles
  readonly #expected = new Map<Path, string | null>()
  readonly #observed = new Map<Path, Observation>()
  readonly #reads = new Set<Path>()
  readonly #accesses: GuardedAccess[] = []
  /** The verdict of the rules on the tools of the steps, if they ask about changes. */
  #verdict: Verdict | undefined
  readonly #large: ProgramContents | undefined
  readonly #isOnly: boolean
  /** The searches of the files as the steps see them: their tags mean nothing to others. */
  readonly #scans: FileScans = new Map()

  /** @param isOnly whether the program has one step: no other one reads what it writes */
  constructor(program: ProgramCall, isOnly = false) {
    this.#program = program
    const { workspace, run } = program
    this.#isOnly = isOnly
    this.#large = isOnly && workspace.backend.stage !== undefined ? new ProgramContents(workspace, run) : undefined
    this.#shared = openSharedFiles(this.#sessionOf(program.call), this.#large)
    // The call as a whole asks about these.
    for (const access of program.call.accesses) this.#approved.add(accessKey(access))
  }

  /** Runs the only step of a call, whose accesses were evaluated with the call. */
  run<R>(step: FileStep<R>): Promise<R> {
    const { call } = this.#program
    return this.#runWithApprovals(call, (transaction) => step.run(this.#stepFiles(transaction, call.accesses)))
  }

  /** Runs one of several steps as if it were a call of its tool, apart from its record. */
  async runJudged<R extends object>(step: FileStep<R>): Promise<R> {
    const { workspace, run, call } = this.#program
    requireOpen(workspace)
    const tool = { ...call.tool, name: step.tool }
    if (step.accesses.some(({ permission }) => permission === 'file:write' || isMutating(permission))) {
      if (isInPlanMode(workspace, run)) {
        throw new ToolError('PLAN_MODE', `${step.tool} is not allowed before the plan is approved`)
      }
    }
    run.rates.countCall(step.tool)
    const stepCall: AuthorizedCall = { ...call, tool, input: step.input, accesses: [] }
    return this.#runWithApprovals(stepCall, async (transaction) => {
      const accesses: GuardedAccess[] = []
      for (const access of step.accesses) {
        // A comparison with an expected version tells about the content before the changes are approved.
        const { permission, path, noFollow = false, reveals } = access
        const compares = reveals === true && (permission === 'file:write' || permission === 'file:delete')
        if (compares) await transaction.files.reach({ permission: 'file:read', path, noFollow })
        accesses.push(await transaction.files.reach(access))
      }
      const value = await step.run(this.#stepFiles(transaction, accesses))
      this.#noteVerdict(stepCall, transaction.files)
      return value
    })
  }

  /** Returns the changes of all steps as one set, with the accesses that made them. */
  async draft(): Promise<FilesDraft> {
    const { drafts, flow } = this.#shared
    const pending = [...(await drafts.pending()), ...(this.#large?.release() ?? [])]
    const changed = new Set(pending.map(({ path }) => path))
    const granted = new Set(this.#accesses.map(({ path }) => path).filter((path) => changed.has(path)))
    // A directory that an operation created as a parent stays, also if what it created there is gone.
    const created = pending.filter(({ path, to }) => to?.type === 'directory' && !granted.has(path))
    const parents = new Set(created.map(({ path }) => path))
    const accesses = this.#accesses.filter(
      ({ path }) => changed.has(path) || (parents.size > 0 && ancestorsOf(path).some((above) => parents.has(above))),
    )
    const changes = pending.map((change) => {
      const { path, to, expect } = change
      const sha256 = this.#expected.get(path)
      if (sha256 !== undefined) return { ...change, expect: sha256 === null ? 'absent' : { sha256 } } as const
      // Another call may create the same parent meanwhile.
      const isParent = to?.type === 'directory' && expect === 'absent' && !granted.has(path)
      return isParent ? ({ ...change, expect: 'any' } as const) : change
    })
    return {
      ...{ changes, accesses, reads: this.#reads, observed: this.#observed },
      ...(flow === undefined ? {} : { flow }),
      ...(this.#verdict === undefined ? {} : { verdict: this.#verdict }),
    }
  }

  /** Records the label that a hook gave to what the program receives. */
  noteLabel(label: unknown): void {
    if (!isLabel(label)) return
    this.#shared.flow?.receive({ label })
    this.#program.options.taint.applyHookLabel(label)
  }

  /** Removes the contents that were stored and not committed. To be called when the call has ended. */
  async close(): Promise<void> {
    await this.#large?.close()
  }

  async #observe(path: Path, stat: Pick<Stat, 'type' | 'tag'> | undefined): Promise<() => void> {
    // What earlier steps have changed is expected as it was before.
    if (this.#isOnly || (await this.#shared.drafts.baseOf(path)) !== undefined) return () => {}
    const { type } = this.#observed.get(path) ?? { type: stat?.type }
    if (!this.#observed.has(path)) this.#observed.set(path, { type })
    return () => {
      if (stat === undefined || stat.type === 'directory') return
      this.#observed.set(path, { type, tag: this.#observed.get(path)?.tag ?? stat.tag })
    }
  }

  #sessionOf(call: AuthorizedCall): SessionState {
    const { workspace, run, options } = this.#program
    const facts = policyCall(run, call.tool.name, call.input, call.dialectCall)
    return {
      ...{ workspace, run, call, facts, options: sessionOptions(options) },
      policy: workspace.policy.forCall(facts),
      approved: this.#approved,
      pushes: [],
      onCommit: () => () => {},
    }
  }

  /** Runs an action. Runs it again after each approval that it needs. */
  async #runWithApprovals<R>(call: AuthorizedCall, act: (transaction: FilesTransaction) => Promise<R>): Promise<R> {
    const session = this.#sessionOf(call)
    for (;;) {
      const transaction = openTransaction(session, this.#program.context.signal, undefined, this.#shared)
      try {
        const value = await act(transaction)
        for (const path of transaction.reads) this.#reads.add(path)
        this.#accesses.push(...changing(transaction.files))
        return value
      } catch (error) {
        if (!(await transaction.resolvePendingApproval())) throw error
      }
    }
  }

  /** Rules on the tool of the step may ask about changes; those on the tool of the call do not contain them. */
  #noteVerdict(call: AuthorizedCall, files: TrackedCommandFiles): void {
    const { workspace, run } = this.#program
    const accesses = changing(files)
    if (accesses.length === 0) return
    const facts = policyCall(run, call.tool.name, call.input, call.dialectCall)
    const verdict = workspace.policy.evaluate({ ...facts, accesses })
    if (verdict.decision === 'allow') return
    this.#verdict = this.#verdict === undefined ? verdict : combineVerdicts(this.#verdict, verdict)
  }

  #stepFiles({ files, noteRead }: FilesTransaction, accesses: readonly GuardedAccess[]): StepFiles {
    const { withoutSecrets, secretScans } = this.#program.workspace
    if (accesses.some(({ permission }) => isMutating(permission))) this.#scans.clear()
    return {
      ...{ files, accesses, noteRead, drafts: this.#shared.drafts, signal: this.#program.context.signal },
      ...(this.#isOnly ? { withoutSecrets, secretScans } : { secretScans: this.#scans }),
      ...{ stage: this.#large && ((path) => (this.#large as ProgramContents).stage(path)) },
      noteMetadata: (path) => {
        files.noteMetadata([path, ...accesses.map(({ asked }) => asked as string as Path)])
        this.#program.options.taint.addReceived()
      },
      observe: (path, stat) => this.#observe(path, stat),
      createParents: (path) => createParents(this.#shared, path),
      expectVersion: (path, sha256) => this.#expected.set(path, sha256),
    }
  }
}

/** The contents of a program that are too large for memory, and the changes that name them. */
class ProgramContents implements LargeContents {
  readonly #workspace: WorkspaceState
  readonly #run: RunState
  readonly #stored: Pick<ContentSink, 'discard'>[] = []
  readonly #changes: Change[] = []
  /** Bytes that are reserved in the budget of the run. */
  #held = 0

  constructor(workspace: WorkspaceState, run: RunState) {
    this.#workspace = workspace
    this.#run = run
  }

  async stage(path: Path): Promise<ContentSink> {
    const sink = await (this.#workspace.backend as Required<Backend>).stage(path)
    this.#stored.push(sink)
    return {
      write: async (bytes) => {
        this.#run.rates.holdWrite(bytes.length)
        this.#held += bytes.length
        await sink.write(bytes)
      },
      finish: async () => {
        const content = await sink.finish()
        this.#stored.push(content)
        return content
      },
      discard: () => sink.discard(),
    }
  }

  take(changes: readonly Change[]): void {
    this.#changes.push(...changes)
  }

  /** Returns the changes. From here on, the call counts their bytes. */
  release(): readonly Change[] {
    this.#run.rates.holdWrite(-this.#held)
    this.#held = 0
    return this.#changes
  }

  async close(): Promise<void> {
    this.release()
    for (const stored of this.#stored.splice(0)) await stored.discard()
  }
}

/** The accesses of a step that change something. */
function changing({ accesses }: TrackedCommandFiles): readonly GuardedAccess[] {
  return accesses.filter(({ permission, isSource }) => isSource !== true && isMutating(permission))
}

/** Creates the missing directories above a path, as part of the change at the path. */
async function createParents({ drafts, flow }: SharedFiles, path: Path): Promise<void> {
  const missing: Change[] = []
  for (const parent of ancestorsOf(path)) {
    const stat = await drafts.stat(parent)
    if (stat === undefined) missing.push({ path: parent, expect: 'absent', to: { type: 'directory' } })
    else if (stat.type !== 'directory') {
      throw new ToolError('NOT_A_DIRECTORY', `${quote(parent)} is not a directory`, { path: parent })
    }
  }
  if (missing.length === 0) return
  await flow?.name(missing, async () => false)
  const recordLabels = flow?.write(missing, false)
  await drafts.commit(missing, { durability: 'relaxed' })
  recordLabels?.()
}
