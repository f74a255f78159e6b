import type { OverlayBackend } from '../../backends/overlay/index.ts'
import { ToolError } from '../../errors.ts'
import { ancestorsOf, type Path, quote } from '../../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../../policy/access.ts'
import type { TrackedCommandFiles } from '../../shells/shared/command-files.ts'
import type { Change } from '../../storage/backend.ts'
import type { BuiltinContext, BuiltinDraft } from '../../tools/builtin-tool.ts'
import type { AuthorizedCall } from '../state/call.ts'
import { policyCall, type RunState } from '../state/run-state.ts'
import type { WorkspaceState } from '../state/workspace-state.ts'
import { sessionOptions, type ToolContextOptions } from '../tool-context.ts'
import { accessKey, type SessionState } from './session-state.ts'
import { openSharedFiles, openTransaction, type SharedFiles } from './transaction.ts'

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
export type FilesDraft = Pick<BuiltinDraft<unknown>, 'changes' | 'accesses' | 'flow'>

/** Runs a step whose accesses were evaluated with its call, and returns its result with the draft of the call. */
export async function draftStep<R>(
  program: ProgramCall,
  step: FileStep<R>,
): Promise<{ readonly value: R; readonly draft: FilesDraft }> {
  const { call, context } = program
  const session = sessionOf(program)
  // The call as a whole asks about these.
  for (const access of call.accesses) session.approved.add(accessKey(access))
  const shared = openSharedFiles(session)
  const transaction = openTransaction(session, context.signal, undefined, shared)
  const expected = new Map<Path, string | null>()
  const value = await runStep(step, transaction, {
    files: transaction.files,
    drafts: shared.drafts,
    accesses: call.accesses,
    createParents: (path) => createParents(shared, path),
    expectVersion: (path, sha256) => expected.set(path, sha256),
  })
  return { value, draft: await draftOf(shared, transaction.files.accesses, expected) }
}

function sessionOf({ workspace, run, call, options }: ProgramCall): SessionState {
  const facts = policyCall(run, call.tool.name, call.input, call.dialectCall)
  return {
    ...{ workspace, run, call, facts, options: sessionOptions(options) },
    policy: workspace.policy.forCall(facts),
    approved: new Set(),
    onCommit: () => () => {},
  }
}

/** Runs a step. Runs it again after each approval that it needs. */
async function runStep<R>(
  step: FileStep<R>,
  transaction: ReturnType<typeof openTransaction>,
  files: StepFiles,
): Promise<R> {
  for (;;) {
    try {
      return await step.run(files)
    } catch (error) {
      if (!(await transaction.resolvePendingApproval())) throw error
    }
  }
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

async function draftOf(
  { drafts, flow }: SharedFiles,
  reached: readonly GuardedAccess[],
  expected: ReadonlyMap<Path, string | null>,
): Promise<FilesDraft> {
  const changes = await drafts.pending()
  const changed = new Set(changes.map(({ path }) => path))
  const accesses = reached.filter(({ path }) => changed.has(path))
  const granted = new Set(accesses.map(({ path }) => path))
  return {
    changes: changes.map((change) => {
      const { path, to, expect } = change
      const sha256 = expected.get(path)
      if (sha256 !== undefined) return { ...change, expect: sha256 === null ? 'absent' : { sha256 } }
      // Another call may create the same parent meanwhile.
      const isParent = to?.type === 'directory' && expect === 'absent' && !granted.has(path)
      return isParent ? { ...change, expect: 'any' } : change
    }),
    accesses,
    ...(flow === undefined ? {} : { flow }),
  }
}
