import { type ErrorCode, type Failure, ToolError } from '../errors.ts'
import { isWithin, type Path, quote } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import type { Label, LabelSink } from '../policy/labels.ts'
import type { Verdict } from '../policy/policy.ts'
import { isAbove, isLabel, maxLabel, type SinkTarget, type TaintOrigin } from '../policy/taint.ts'
import type { Receipt } from '../storage/backend.ts'
import type { AuthorizedCall, AuthorizedChanges } from './state/call.ts'
import type { RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/**
 * Tracks the labels of one call: adds the labels of what it reads to the taint of its run, and compares them with the
 * ceilings of what it writes to. Everything that a call read or replaced counts as shown, because its result, error or
 * diff may show it. Names alone, as in listings, carry no label.
 */
export interface TaintTracker {
  /**
   * Returns the call, with the questions of sinks that ask about its command.
   *
   * @throws ToolError `TAINT_DENIED` if the taint of the run is too high for a command or a path that the call names
   */
  beginCall(call: AuthorizedCall): AuthorizedCall
  addRead(path: Path): void
  /** Records content whose label does not follow from its path. */
  addLabel(label: Label, path: string): void
  /** The highest label that may flow out of the call. */
  highestLabel(): Label
  /** @throws ToolError `TAINT_DENIED` */
  requireHostAllowed(host: string): void
  /**
   * Returns the changes, with the questions of sinks that ask about them.
   *
   * @throws ToolError `TAINT_DENIED`
   */
  authorizeChanges(changes: AuthorizedChanges): AuthorizedChanges
  /** Labels the written files with the highest label that may have flowed into them. */
  labelChanges(changes: AuthorizedChanges, receipt: Receipt, into: WorkspaceState): void
  /** Raises the taint of the run to the label of the result, and returns that label. */
  labelResult(): Label
  /** Like `labelResult`, for a failure. A message without content of files raises nothing. */
  labelFailure(failure: Failure): Label
  /** Raises the label to the one that a hook gave the result, if it is valid and higher. */
  applyHookLabel(label: unknown): Label
}

/** Codes of failures whose messages contain nothing that the call has read. */
const contentFreeCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'TAINT_DENIED',
  'POLICY_DENIED',
  'POLICY_DENIED_SECRET',
  'APPROVAL_REQUIRED',
  'APPROVAL_DENIED',
  'PATCH_BUDGET_EXCEEDED',
  'RATE_LIMITED',
  'ABORTED',
  'AUDIT_FAILED',
  'HOOK_FAILED',
  'NO_SPACE',
  'BACKEND_ERROR',
])

/**
 * Opens the taint tracker of a call.
 *
 * @param isTool false for operations of the workspace itself, such as undo: they restore earlier states, and no sink
 * refuses them
 */
export function openTaintTracker(
  workspace: WorkspaceState,
  run: RunState,
  callId: string,
  tool: string,
  isTool: boolean,
): TaintTracker {
  return workspace.labels.active ? new ActiveTaintTracker(workspace, run, { callId, tool }, isTool) : inactive
}

class ActiveTaintTracker implements TaintTracker {
  readonly #workspace: WorkspaceState
  readonly #run: RunState
  readonly #call: Pick<TaintOrigin, 'callId' | 'tool'>
  readonly #isTool: boolean
  #accesses: readonly GuardedAccess[] = []
  /** The highest label that the call itself has read. */
  #origin: TaintOrigin | undefined

  constructor(workspace: WorkspaceState, run: RunState, call: Pick<TaintOrigin, 'callId' | 'tool'>, isTool: boolean) {
    this.#workspace = workspace
    this.#run = run
    this.#call = call
    this.#isTool = isTool
  }

  beginCall(call: AuthorizedCall): AuthorizedCall {
    this.#accesses = call.accesses
    if (!this.#isTool) return call
    const lines = linesOf(call)
    this.#requireBelowCeilings({ commands: lines }, 'run the command')
    const questions = this.#exceededSinks({ commands: lines }).map(({ name }) => this.#question(name))
    for (const line of lines) this.addLabel(this.#workspace.labels.ofCommand(line))
    for (const { permission, asked, path, recursive } of this.#accesses) {
      if (recursive || !isContentWrite(permission)) continue
      this.#requireBelowCeilings({ paths: [asked, path] }, `change ${quote(asked)}`)
    }
    return questions.length === 0 ? call : { ...call, verdict: this.#withQuestions(call.verdict, questions) }
  }

  addRead(path: Path): void {
    this.addLabel(this.#labelOf(path), path)
  }

  addLabel(label: Label, path?: string): void {
    if (!isAbove(label, this.#origin?.label ?? 'public')) return
    this.#origin = { label, ...this.#call, ...(path === undefined ? {} : { path }) }
  }

  highestLabel(): Label {
    return this.#highest()?.label ?? 'public'
  }

  requireHostAllowed(host: string): void {
    const [sink] = this.#exceededSinks({ host })
    if (sink !== undefined) throw deniedBySink(sink, this.#highest() as TaintOrigin, `reach ${quote(host)}`)
  }

  authorizeChanges(authorized: AuthorizedChanges): AuthorizedChanges {
    if (!this.#isTool) return authorized
    const questions: Verdict['rules'][number][] = []
    for (const { change } of authorized.changes) {
      if (change.to === null) continue
      const paths = this.#namesOf(change.path)
      this.#requireBelowCeilings({ paths }, `change ${quote(change.path)}`)
      for (const { name } of this.#exceededSinks({ paths })) questions.push(this.#question(name, change.path))
    }
    if (questions.length === 0 || authorized.verdict.decision === 'deny') return authorized
    const verdict = this.#withQuestions(authorized.verdict, questions)
    return { ...authorized, verdict, approvalRequest: () => ({ ...authorized.approvalRequest(), verdict }) }
  }

  labelChanges({ changes }: AuthorizedChanges, { applied }: Receipt, into: WorkspaceState): void {
    const label = this.highestLabel()
    // The diff shows the previous content. It is read, and flows into nothing.
    for (const { change, before } of changes) {
      if (before?.type === 'file') this.addRead(change.path)
    }
    for (const { path, after } of applied) {
      const written = this.#isTool ? label : (this.#workspace.fileLabels.get(path) ?? 'public')
      if (after !== null && written !== 'public') {
        into.fileLabels.set(path, maxLabel(into.fileLabels.get(path) ?? 'public', written))
      }
    }
  }

  labelResult(): Label {
    if (this.#origin !== undefined) this.#run.taint.raise(this.#origin)
    return this.#origin?.label ?? 'public'
  }

  applyHookLabel(label: unknown): Label {
    if (isLabel(label)) this.addLabel(label)
    return this.labelResult()
  }

  labelFailure({ code }: Failure): Label {
    return contentFreeCodes.has(code) ? 'public' : this.labelResult()
  }

  /** Every name by which the call reaches a path. */
  #namesOf(path: Path): string[] {
    const names: string[] = [path]
    for (const { asked, path: reached } of this.#accesses) {
      if (asked !== reached && isWithin(path, reached)) names.push(asked + path.slice(reached.length))
    }
    return names
  }

  #labelOf(path: Path): Label {
    const { labels, fileLabels } = this.#workspace
    return this.#namesOf(path)
      .map(labels.ofPath)
      .reduce(maxLabel, fileLabels.get(path) ?? 'public')
  }

  /** The origin of the highest label that may flow out of the call. */
  #highest(): TaintOrigin | undefined {
    const before = this.#run.taint.origin()
    return this.#origin !== undefined && isAbove(this.#origin.label, before?.label ?? 'public') ? this.#origin : before
  }

  #exceededSinks(target: SinkTarget): readonly LabelSink[] {
    const origin = this.#highest()
    return origin === undefined ? [] : this.#workspace.labels.exceededSinks(target, origin.label)
  }

  /** @throws ToolError `TAINT_DENIED` if a sink refuses, and does not ask */
  #requireBelowCeilings(target: SinkTarget, action: string): void {
    const sink = this.#exceededSinks(target).find(({ above }) => above !== 'ask')
    if (sink !== undefined) throw deniedBySink(sink, this.#highest() as TaintOrigin, action, target.paths?.[0])
  }

  #withQuestions(verdict: Verdict, questions: Verdict['rules']): Verdict {
    const [first] = questions
    const where = first?.path === undefined ? 'there' : `into ${quote(first.path)}`
    const reason = `${describe(this.#highest() as TaintOrigin)} would flow ${where}: "${first?.name}" asks`
    return { ...verdict, decision: 'ask', reason, rules: [...questions, ...verdict.rules] }
  }

  #question(sink: string, path?: string): Verdict['rules'][number] {
    const name = `${sink} (${this.#highest()?.label})`
    return { name, action: 'ask', source: 'taint', ...(path === undefined ? {} : { path }) }
  }
}

const unlabelled = (): Label => 'public'

/** The tracker of a workspace whose policy has no labels. */
const inactive: TaintTracker = {
  beginCall: (call) => call,
  addRead() {},
  addLabel() {},
  highestLabel: unlabelled,
  requireHostAllowed() {},
  authorizeChanges: (changes) => changes,
  labelChanges() {},
  labelResult: unlabelled,
  labelFailure: unlabelled,
  applyHookLabel: unlabelled,
}

function isContentWrite(permission: string): boolean {
  return /^file:(write|append|move|copy|patch)/.test(permission)
}

/** A command line, and each command that it would start. */
function linesOf({ tool, input, line }: AuthorizedCall): string[] {
  const lines = [tool.commandLine?.(input), line?.commands.map(({ text }) => text)]
  return lines.flat().filter((text) => text !== undefined)
}

function deniedBySink(sink: LabelSink, origin: TaintOrigin, action: string, path?: string): ToolError {
  return new ToolError(
    'TAINT_DENIED',
    `Cannot ${action}: "${sink.name}" takes at most ${sink.ceiling} content, and ${describe(origin)} has been read`,
    {
      ...(path === undefined ? {} : { path }),
      label: origin.label,
      ceiling: sink.ceiling,
      sink: sink.name,
      origin: { ...origin },
    },
  )
}

function describe({ label, path, callId }: TaintOrigin): string {
  return `${label} content of ${path === undefined ? 'a command' : quote(path)} (call ${callId})`
}
