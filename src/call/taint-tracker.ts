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
 * What flows through one call: the labels of what it reads, added to the taint of its run, against the ceilings of what it
 * reaches. Whatever a call read or replaced counts as shown, for its result, its error or its diff may show it. Names
 * alone, as listings give them, carry no label.
 */
export interface TaintTracker {
  /**
   * The call, with the questions of sinks that ask about its command.
   *
   * @throws ToolError `TAINT_DENIED` where the run's taint is too high for a command or a path that the call names
   */
  beginCall(call: AuthorizedCall): AuthorizedCall
  addRead(path: Path): void
  /** Content of a label that its path does not tell. */
  addLabel(label: Label, path: string): void
  /** The highest label that may flow out of the call. */
  highestLabel(): Label
  /** @throws ToolError `TAINT_DENIED` */
  requireHostAllowed(host: string): void
  /**
   * The verdict on the changes, with the questions of sinks that ask.
   *
   * @throws ToolError `TAINT_DENIED`
   */
  authorizeChanges(changes: AuthorizedChanges): AuthorizedChanges
  /** What was written carries the label of what may have flown into it. */
  labelChanges(changes: AuthorizedChanges, receipt: Receipt, into: WorkspaceState): void
  /** The label of the result; the run has it from here on. */
  labelResult(): Label
  labelFailure(failure: Failure): Label
  /** The label that a hook gave the result, where it is one and higher. */
  applyHookLabel(label: unknown): Label
}

/** Codes whose messages the workspace makes itself, without a byte of what the call had read. */
const silent: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
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

/** Opens the flow of a call. `isTool`: what the workspace does beside its tools brings back states, and is not held up. */
export function openTaintTracker(
  workspace: WorkspaceState,
  run: RunState,
  callId: string,
  tool: string,
  isTool: boolean,
): TaintTracker {
  return workspace.labels.active ? openActive(workspace, run, callId, tool, isTool) : inactive
}

function openActive(
  workspace: WorkspaceState,
  run: RunState,
  callId: string,
  tool: string,
  isTool: boolean,
): TaintTracker {
  const { labels, fileLabels: carried } = workspace
  let accesses: readonly GuardedAccess[] = []
  let own: TaintOrigin | undefined

  function note(label: Label, path?: string): void {
    if (isAbove(label, own?.label ?? 'public')) {
      own = { label, callId, tool, ...(path === undefined ? {} : { path }) }
    }
  }

  /** The names by which the call reaches a path. */
  function namesOf(path: Path): string[] {
    const names: string[] = [path]
    for (const { asked, path: reached } of accesses) {
      if (asked !== reached && isWithin(path, reached)) names.push(asked + path.slice(reached.length))
    }
    return names
  }

  function labelOf(path: Path): Label {
    return namesOf(path)
      .map(labels.ofPath)
      .reduce(maxLabel, carried.get(path) ?? 'public')
  }

  /** What may flow out of the call. */
  function highest(): TaintOrigin | undefined {
    const before = run.taint.origin()
    return own !== undefined && isAbove(own.label, before?.label ?? 'public') ? own : before
  }

  function sinksAbove(target: SinkTarget): readonly LabelSink[] {
    const origin = highest()
    return origin === undefined ? [] : labels.exceededSinks(target, origin.label)
  }

  function requireStrict(target: SinkTarget, what: string): void {
    const [sink] = sinksAbove(target).filter(({ above }) => above !== 'ask')
    if (sink !== undefined) throw denied(sink, highest() as TaintOrigin, what, target.paths?.[0])
  }

  function raise(): Label {
    if (own !== undefined) run.taint.raise(own)
    return own?.label ?? 'public'
  }

  return {
    beginCall(call) {
      accesses = call.accesses
      if (!isTool) return call
      const lines = linesOf(call)
      requireStrict({ commands: lines }, 'run the command')
      const asking = sinksAbove({ commands: lines }).map(({ name }) => question(name))
      for (const line of lines) note(labels.ofCommand(line))
      for (const { permission, asked, path, recursive } of accesses) {
        if (recursive || !writes(permission)) continue
        requireStrict({ paths: [asked, path] }, `change ${quote(asked)}`)
      }
      return asking.length === 0 ? call : { ...call, verdict: asks(call.verdict, asking) }
    },
    addRead: (path) => note(labelOf(path), path),
    addLabel: note,
    highestLabel: () => highest()?.label ?? 'public',
    requireHostAllowed(host) {
      const [sink] = sinksAbove({ host })
      if (sink !== undefined) throw denied(sink, highest() as TaintOrigin, `reach ${quote(host)}`)
    },
    authorizeChanges(changes) {
      if (!isTool) return changes
      const asking: Verdict['rules'][number][] = []
      for (const { change } of changes.changes) {
        if (change.to === null) continue
        const paths = namesOf(change.path)
        requireStrict({ paths }, `change ${quote(change.path)}`)
        for (const { name } of sinksAbove({ paths })) asking.push(question(name, change.path))
      }
      if (asking.length === 0 || changes.verdict.decision === 'deny') return changes
      const verdict = asks(changes.verdict, asking)
      return { ...changes, verdict, approvalRequest: () => ({ ...changes.approvalRequest(), verdict }) }
    },
    labelChanges({ changes: known }, { applied }, into) {
      const label = highest()?.label ?? 'public'
      // What the diff of the call can show was there before it, and flows into nothing.
      for (const { change, before } of known) {
        if (before?.type === 'file') note(labelOf(change.path), change.path)
      }
      for (const { path, after } of applied) {
        const carries = isTool ? label : (carried.get(path) ?? 'public')
        if (after !== null && carries !== 'public') {
          into.fileLabels.set(path, maxLabel(into.fileLabels.get(path) ?? 'public', carries))
        }
      }
    },
    labelResult: raise,
    applyHookLabel(label) {
      if (isLabel(label)) note(label)
      return raise()
    },
    labelFailure: ({ code }) => (silent.has(code) ? 'public' : raise()),
  }

  function asks(verdict: Verdict, asking: Verdict['rules']): Verdict {
    const [first] = asking
    const where = first?.path === undefined ? 'there' : `into ${quote(first.path)}`
    const reason = `${describe(highest() as TaintOrigin)} would flow ${where}: "${first?.name}" asks`
    return { ...verdict, decision: 'ask', reason, rules: [...asking, ...verdict.rules] }
  }

  function question(sink: string, path?: string): Verdict['rules'][number] {
    const label = highest()?.label
    return { name: `${sink} (${label})`, action: 'ask', source: 'taint', ...(path === undefined ? {} : { path }) }
  }
}

const unlabelled = (): Label => 'public'

/** A workspace whose policy speaks of no labels. */
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

function writes(permission: string): boolean {
  return /^file:(write|append|move|copy|patch)/.test(permission)
}

/** A command line, and each command that it would start. */
function linesOf({ tool, input, line }: AuthorizedCall): string[] {
  const lines = [tool.commandLine?.(input), line?.commands.map(({ text }) => text)]
  return lines.flat().filter((text) => text !== undefined)
}

function denied(sink: LabelSink, origin: TaintOrigin, what: string, path?: string): ToolError {
  return new ToolError(
    'TAINT_DENIED',
    `Cannot ${what}: "${sink.name}" takes at most ${sink.ceiling} content, and ${describe(origin)} has been read`,
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
