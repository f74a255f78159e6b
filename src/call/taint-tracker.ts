import { type ErrorCode, type Failure, ToolError } from '../errors.ts'
import type { CommitHistory } from '../git/commit-history.ts'
import { checkLimit } from '../limits.ts'
import {
  ancestorsOf,
  childOf,
  display,
  GIT_DIRECTORY,
  isWithin,
  nameOf,
  type Path,
  parentOf,
  quote,
} from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import type { ContentFlow } from '../policy/content-flow.ts'
import type { Verdict } from '../policy/evaluation.ts'
import type { Label, LabelSink } from '../policy/labels.ts'
import { hasSameName, isSpelled, namedPath, nameLabelOf, shownPaths } from '../policy/name-labels.ts'
import {
  type ContentLabel,
  higher,
  isAbove,
  isLabel,
  maxLabel,
  type SinkTarget,
  type TaintOrigin,
} from '../policy/taint.ts'
import type { Change, Receipt } from '../storage/backend.ts'
import { linkTarget } from '../storage/link-target.ts'
import { labelOfCommits } from './commit-labels.ts'
import { textsIn } from './require-hidden-secrets.ts'
import { findSinkLinks, namesByLinks, type SinkLink } from './sink-links.ts'
import type { AuthorizedCall, AuthorizedChanges, KnownChange } from './state/call.ts'
import type { RunState } from './state/run-state.ts'
import type { LabelledDraft, LabelledFiles, TaintTracker } from './state/taint-tracker.ts'
import type { OpenTaintTracker, WorkspaceState } from './state/workspace-state.ts'

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

/** Opens the taint tracker of a call, in a workspace whose policy has labels. */
export const openTaintTracker: OpenTaintTracker = (workspace, run, call, isTool) =>
  new ActiveTaintTracker(workspace, run, call, isTool)

class ActiveTaintTracker implements TaintTracker {
  readonly #workspace: WorkspaceState
  readonly #run: RunState
  readonly #call: Pick<TaintOrigin, 'callId' | 'tool'>
  readonly #isTool: boolean
  readonly #public: TaintOrigin
  #accesses: readonly GuardedAccess[] = []
  /** The command lines of the call, for a tool that makes their changes its own. */
  readonly #flows: ContentFlow[] = []
  #input: AuthorizedCall['input'] = {}
  #inputTexts: readonly string[] | undefined
  #isOwnTool = false
  /** The labels of names that have no entry: links of the call show them. */
  readonly #targetNames = new Map<Path, Label>()
  /** Links that lay in sinks before the call. */
  #links: Promise<readonly SinkLink[]> | undefined
  /** The sinks that have asked about the lines of the call. */
  #askedSinks: readonly LabelSink[] = []
  /** The highest label that the call itself has read. */
  #origin: TaintOrigin | undefined
  readonly #programContent = () => {
    const received = this.#receivedByLines()
    return higher<TaintOrigin>(this.#origin, received && { ...received, ...this.#call })
  }
  #endProgram: (() => void) | undefined

  constructor(workspace: WorkspaceState, run: RunState, call: Pick<TaintOrigin, 'callId' | 'tool'>, isTool: boolean) {
    this.#workspace = workspace
    this.#run = run
    this.#call = call
    this.#public = { label: 'public', ...call }
    this.#isTool = isTool
  }

  beginCall(call: AuthorizedCall): AuthorizedCall {
    this.#accesses = call.accesses
    this.#input = call.input
    this.#isOwnTool = this.#workspace.ownTools.has(call.tool)
    // An own tool could change its input.
    this.#inputTexts = this.#isOwnTool ? textsIn(call.input) : undefined
    if (!this.#isTool) return call
    const lines = linesOf(call)
    const origin = this.#highest()
    this.#requireBelowCeilings({ commands: lines }, 'run the command', origin)
    this.#askedSinks = this.#exceededSinks({ commands: lines }, origin)
    const questions = this.#askedSinks.map(({ name }) => ({ sink: name, origin: origin as TaintOrigin }))
    for (const line of lines) this.addLabel(this.#workspace.labels.ofCommand(line))
    for (const { permission, asked, path, recursive } of this.#accesses) {
      if (recursive || !isContentWrite(permission)) continue
      this.#requireBelowCeilings({ paths: [asked, path] }, `change ${quote(asked)}`, this.#highest())
    }
    return questions.length === 0 ? call : { ...call, verdict: withQuestions(call.verdict, questions) }
  }

  addRead(path: Path): void {
    this.addLabel(this.#labelOf(path), path)
    this.addName(path)
  }

  addSearched(path: Path): void {
    const { labels, fileLabels } = this.#workspace
    const highest = maxLabel(labels.highestOfPaths, fileLabels.highest?.label ?? 'public')
    if (isAbove(highest, this.#origin?.label ?? 'public')) this.addLabel(this.#labelOf(path), path)
  }

  addName(path: Path): void {
    const content = nameLabelOf(path, this.#workspace.nameLabels)
    if (content !== undefined) this.addLabel(content.label, content.path)
  }

  addLabel(label: Label, path?: string): void {
    if (!isAbove(label, this.#origin?.label ?? 'public')) return
    this.#origin = { label, ...this.#call, ...(path === undefined ? {} : { path }) }
  }

  async addCommit(history: CommitHistory, commit: string, flow?: ContentFlow): Promise<void> {
    const content = await labelOfCommits(this.#workspace, history, [commit], flow)
    flow?.receive(content)
    this.addLabel(content.label, content.path)
  }

  async labelOfCommit(history: CommitHistory, commit: string): Promise<Label> {
    return (await labelOfCommits(this.#workspace, history, [commit])).label
  }

  startCommand(
    texts: readonly string[],
    isOfLine: boolean,
    flow: ContentFlow,
    hasStarted: boolean,
  ): ToolError | undefined {
    const { labels } = this.#workspace
    const target = { commands: texts }
    const before = this.#taintOfRun()
    // The taint of the run may have risen since the question.
    const approved = isOfLine ? this.#askedSinks : []
    // The label of the output of a command counts from its start, and not for the command itself.
    const received = hasStarted ? flow.receivedContent : flow.ownReceived
    const content = higher<TaintOrigin>(before, received && { ...received, ...this.#call })
    const sink = this.#exceededSinks(target, content).find((each) => !approved.includes(each))
    if (sink !== undefined) return new ToolError('TAINT_DENIED', reasonOf(sink, content as TaintOrigin))
    for (const label of hasStarted ? [] : texts.map(labels.ofCommand)) {
      flow.receiveOutput(label)
      this.addLabel(label)
    }
    return undefined
  }

  addFlow(flow: ContentFlow): void {
    this.#flows.push(flow)
  }

  showToProgram(): void {
    this.#endProgram ??= this.#run.taint.addProgram(this.#programContent)
  }

  endCall(): void {
    this.#endProgram?.()
    this.#endProgram = undefined
  }

  addReceived(): void {
    const received = this.#programContent()
    if (this.#endProgram === undefined && received !== undefined) this.#run.taint.raise(received)
  }

  labelOf(path: Path): Label {
    return this.#labelOf(path)
  }

  received(): ContentLabel | undefined {
    return this.#origin
  }

  highestLabel(): Label {
    return this.#highest()?.label ?? 'public'
  }

  requireHostAllowed(host: string): void {
    const origin = this.#highest()
    const [sink] = this.#exceededSinks({ host }, origin)
    if (sink !== undefined) throw deniedBySink(sink, origin as TaintOrigin, `reach ${quote(host)}`)
  }

  async authorizeChanges(authorized: AuthorizedChanges, draft: LabelledDraft): Promise<AuthorizedChanges> {
    if (!this.#isTool && draft.flow === undefined && draft.givenPaths === undefined) return authorized
    const questions: SinkQuestion[] = []
    let links: readonly SinkLink[] | undefined
    await this.#labelTargets(authorized, draft)
    for (const known of authorized.changes) {
      const { change } = known
      if (change.to === null || draft.givenPaths?.has(change.path) === false) continue
      const ownNames = this.#namesOf(change.path, draft.accesses)
      let shownAs: string[] = []
      // A link to a path that already has the label reveals nothing new.
      const { label } = higher<ContentLabel>(this.#contentOf(change, draft), this.#nameContentOf(known, draft))
      if (isAbove(label, this.#labelOf(change.path))) {
        links ??= await this.#sinkLinks(authorized)
        shownAs = namesByLinks(change.path, links)
      }
      const paths = [...ownNames, ...shownAs]
      if (this.#workspace.labels.exceededSinks({ paths }, 'restricted').length === 0) continue
      const linked = await this.#linkedContent(change, draft)
      const shown = higher(linked, this.#nameContentOf(known, draft))
      const content = higher<TaintOrigin>(this.#contentOf(change, draft), shown && { ...shown, ...this.#call })
      const shows = shownAs[0] === undefined ? '' : `, which ${quote(shownAs[0])} shows`
      this.#requireBelowCeilings({ paths }, `change ${quote(change.path)}${shows}`, content)
      for (const { name } of this.#exceededSinks({ paths }, content)) {
        questions.push({ sink: name, origin: content, path: change.path })
      }
    }
    if (questions.length === 0 || authorized.verdict.decision === 'deny') return authorized
    const verdict = withQuestions(authorized.verdict, questions)
    return { ...authorized, verdict, approvalRequest: () => ({ ...authorized.approvalRequest(), verdict }) }
  }

  labelChanges({ changes }: AuthorizedChanges, draft: LabelledDraft, { applied }: Receipt, into: LabelledFiles): void {
    const targetLabels = new Map<Path, Label>(draft.flow?.written)
    const contentLabels: ContentLabel[] = []
    const names = new Map<Path, Label>([...(draft.flow?.names ?? [])].map(([path, { label }]) => [path, label]))
    // The commits of a fork may contain labelled files and names that the fork has no longer.
    if (into !== this.#workspace && changes.some(({ change }) => isWithin(change.path, GIT_DIRECTORY))) {
      for (const [path, label] of this.#workspace.nameLabels) names.set(path, label)
      for (const [path, label] of this.#workspace.fileLabels) targetLabels.set(path, label)
    }
    for (const [index, known] of changes.entries()) {
      const { change, before } = known
      // The diff shows both sides.
      if (before?.type === 'file') contentLabels.push({ label: this.#labelOf(change.path), path: change.path })
      if (applied[index]?.after === null) continue
      const content = this.#contentOf(change, draft)
      contentLabels.push({ label: content.label, path: content.path ?? change.path })
      // The label of a path by policy is noted as well: the path is one whose content a call of the workspace has chosen.
      const label = maxLabel(content.label, this.#labelOf(change.path))
      targetLabels.set(change.path, maxLabel(targetLabels.get(change.path) ?? 'public', label))
      const named = namedPath(change)
      const name = this.#nameContentOf(known, draft)
      if (named !== undefined && name !== undefined)
        names.set(named, maxLabel(names.get(named) ?? 'public', name.label))
    }
    for (const [path, label] of targetLabels) into.fileLabels.raise(path, label)
    for (const [path, label] of [...names, ...this.#targetNames]) into.nameLabels.raise(path, label)
    for (const { label, path } of contentLabels) this.addLabel(label, path)
  }

  labelResult(result?: unknown): Label {
    for (const { label, path } of this.#shownNames(result)) this.addLabel(label, path)
    if (this.#origin !== undefined) this.#run.taint.raise(this.#origin)
    return this.#origin?.label ?? 'public'
  }

  applyHookLabel(label: unknown): Label {
    if (isLabel(label)) this.addLabel(label)
    return this.labelResult()
  }

  labelFailure(failure: Failure): Label {
    for (const { path } of failure.conflicts ?? []) {
      this.addRead(path as Path)
      // The conflicts of a fork show files of its origin.
      this.addLabel(this.#workspace.origin?.fileLabels.of(path as Path) ?? 'public', path)
    }
    // A version is a hash of the content.
    if (typeof failure.currentSha256 === 'string') this.addRead(failure.path as Path)
    // What is refused may depend on all that a line has read, also if it spells every name.
    const received = this.#receivedByLines()
    if (received !== undefined) this.addLabel(received.label, received.path)
    if (received === undefined && contentFreeCodes.has(failure.code) && this.#shownNames(failure).length === 0) {
      const copied = this.#copiedNames(failure)
      if (copied === undefined) return 'public'
      this.addLabel(copied.label, copied.path)
    }
    return this.labelResult(failure)
  }

  /** The highest label of the names in a failure that entries elsewhere have, such as the source of a copy. */
  #copiedNames(failure: Failure): ContentLabel | undefined {
    const { nameLabels } = this.#workspace
    if (nameLabels.highest === undefined) return undefined
    const names = new Set([...shownPaths(failure)].flatMap((path) => path.split('/')))
    let content: ContentLabel | undefined
    for (const [path, label] of nameLabels) {
      if (names.has(nameOf(path))) content = higher(content, { label, path: display(parentOf(path)) })
    }
    return content
  }

  /** The texts of the input. Few calls need them. */
  get #texts(): readonly string[] {
    this.#inputTexts ??= textsIn(this.#input)
    return this.#inputTexts
  }

  /** The labels of the names that a result shows. */
  #shownNames(result: unknown): readonly ContentLabel[] {
    const { nameLabels } = this.#workspace
    if (nameLabels.highest === undefined) return []
    return [...shownPaths(result)]
      .map((path) => nameLabelOf(path, nameLabels))
      .filter((content) => content !== undefined)
  }

  /** The highest label that the command lines of the call have received. */
  #receivedByLines(): ContentLabel | undefined {
    return this.#flows.reduce<ContentLabel | undefined>((content, flow) => higher(content, flow.received), undefined)
  }

  /**
   * The content that the last name of a changed path may be made of. A caller knows the taint of its run when it chooses
   * names. A moved or copied entry that keeps its name keeps the label of the name.
   */
  #nameContentOf({ change, before }: KnownChange, { flow, copiedFrom = [] }: LabelledDraft): ContentLabel | undefined {
    const { nameLabels } = this.#workspace
    const named = namedPath(change)
    if (named === undefined || before !== null) return undefined
    const taint = this.#taintOfRun()
    if (flow !== undefined)
      return higher<ContentLabel>(flow.keepsName(named) ? undefined : taint, flow.names.get(named))
    const at = (path: Path): ContentLabel => ({ label: nameLabels.of(path), path: display(parentOf(path)) })
    if (!this.#isTool) return at(named)
    const sources = (change.from === undefined ? copiedFrom : [change.from]).filter((path) => hasSameName(path, named))
    if (sources.length > 0) return sources.map(at).reduce((content, each) => higher(content, each))
    if (!this.#isOwnTool) return taint
    return this.#flows.reduce<ContentLabel | undefined>(
      (content, each) => higher(content, each.names.get(named)),
      this.#highest(),
    )
  }

  /** The content that the call puts at a path. Moved files and restored states keep their labels. */
  #contentOf({ path, from, to }: Change, { flow, contentLabel, givenPaths }: LabelledDraft): TaintOrigin {
    if (flow === undefined && this.#isTool && from === undefined) {
      let content = this.#highest() ?? this.#public
      if (contentLabel !== undefined && to?.type === 'file') {
        content = higher(content, { label: contentLabel, path, ...this.#call })
      }
      for (const each of this.#flows) content = higher(content, { label: 'public', ...each.into(path), ...this.#call })
      return content
    }
    const source = this.#isTool && from !== undefined ? from : path
    const content = flow === undefined ? { label: this.#labelOf(source), path: source } : flow.into(path)
    const isGiven = flow !== undefined || this.#isTool || givenPaths?.has(path) === true
    const taint = isGiven ? this.#taintOfRun() : undefined
    return higher<TaintOrigin>(taint, content && { ...content, ...this.#call }) ?? this.#public
  }

  /**
   * Labels the first name in the target of each link that neither exists nor is created by the call: results and errors
   * show where a link leads. A name that the input spells is chosen by the caller, who knows the taint of its run.
   */
  async #labelTargets({ changes }: AuthorizedChanges, draft: LabelledDraft): Promise<void> {
    const { backend } = this.#workspace
    const created = new Set(changes.filter(({ change }) => change.to !== null).map(({ change }) => change.path))
    for (const { change } of changes) {
      if (change.to?.type !== 'link') continue
      const content = this.#contentOf(change, draft).label
      if (content === 'public') continue
      const lexical = linkTarget(change.path, change.to.target) as Path
      const target = await backend.canonical(lexical).catch(() => lexical)
      for (const path of [...ancestorsOf(target), target].sort((a, b) => a.length - b.length)) {
        if (created.has(path) || (await backend.stat(path).catch(() => undefined)) !== undefined) continue
        const label = isSpelled(nameOf(path), this.#texts) ? (this.#taintOfRun()?.label ?? 'public') : content
        if (label === 'public') continue
        this.#targetNames.set(path, maxLabel(this.#targetNames.get(path) ?? 'public', label))
        break
      }
    }
  }

  /** The content that a link shows under its name: that of its target, and of everything below it. */
  async #linkedContent({ path, to }: Change, { flow }: LabelledDraft): Promise<ContentLabel | undefined> {
    if (to?.type !== 'link') return undefined
    const { backend, labels, fileLabels, limits } = this.#workspace
    const target = linkTarget(path, to.target) as Path
    const contentAt = (at: Path) => flow?.at(at) ?? { label: this.#labelOf(at), path: at }
    const canonical = await backend.canonical(target).catch(() => target)
    let content = higher(contentAt(target), contentAt(canonical))
    for (const [at] of [...fileLabels, ...(flow?.written ?? [])]) {
      if (isWithin(at, canonical)) content = higher(content, contentAt(at))
    }
    if (!labels.mayLabelBelow(canonical)) return content
    const pending = [canonical]
    let entries = 0
    for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
      if ((await backend.stat(directory))?.type !== 'directory') continue
      for (const { name, type } of await backend.list(directory)) {
        const at = childOf(directory, name)
        content = higher(content, contentAt(at))
        entries += 1
        checkLimit('entries', entries, limits.treeEntries, path)
        if (type === 'directory') pending.push(at)
      }
    }
    return content
  }

  /** The links in sinks that the changes do not replace. */
  async #sinkLinks({ changes }: AuthorizedChanges): Promise<readonly SinkLink[]> {
    this.#links ??= findSinkLinks(this.#workspace)
    const changed = new Set(changes.map(({ change }) => change.path))
    return (await this.#links).filter(({ path }) => !changed.has(path))
  }

  /** Every name by which the call reaches a path. */
  #namesOf(path: Path, further: readonly GuardedAccess[] = []): string[] {
    const names: string[] = [path]
    for (const { asked, path: reached } of [...this.#accesses, ...further]) {
      if (asked !== reached && isWithin(path, reached)) names.push(asked + path.slice(reached.length))
    }
    return names
  }

  #labelOf(path: Path): Label {
    const { labels, fileLabels } = this.#workspace
    return this.#namesOf(path).map(labels.ofPath).reduce(maxLabel, fileLabels.of(path))
  }

  /** The taint of the run, without what the call itself has read for a program: its changes have labels of their own. */
  #taintOfRun(): TaintOrigin | undefined {
    return this.#run.taint.origin(this.#programContent)
  }

  /** The origin of the highest label that may flow out of the call. */
  #highest(): TaintOrigin | undefined {
    const before = this.#taintOfRun()
    return this.#origin !== undefined && isAbove(this.#origin.label, before?.label ?? 'public') ? this.#origin : before
  }

  /** @param origin of the content that would flow there. `undefined`: it is public */
  #exceededSinks(target: SinkTarget, origin: TaintOrigin | undefined): readonly LabelSink[] {
    return origin === undefined ? [] : this.#workspace.labels.exceededSinks(target, origin.label)
  }

  /** @throws ToolError `TAINT_DENIED` if a sink refuses, and does not ask */
  #requireBelowCeilings(target: SinkTarget, action: string, origin: TaintOrigin | undefined): void {
    const sink = this.#exceededSinks(target, origin).find(({ above }) => above !== 'ask')
    if (sink !== undefined) throw deniedBySink(sink, origin as TaintOrigin, action, target.paths?.[0])
  }
}

/** A sink that requires approval for content that would flow into it. */
interface SinkQuestion {
  readonly sink: string
  readonly origin: TaintOrigin
  /** Absent for a command. */
  readonly path?: Path
}

function withQuestions(verdict: Verdict, questions: readonly SinkQuestion[]): Verdict {
  const rules = questions.map(({ sink, origin, path }): Verdict['rules'][number] => ({
    name: `${sink} (${origin.label})`,
    action: 'ask',
    source: 'taint',
    ...(path === undefined ? {} : { path }),
  }))
  const { origin, path } = questions[0] as SinkQuestion
  const target = path === undefined ? 'there' : `into ${quote(path)}`
  const reason = `${describe(origin)} would flow ${target}: "${rules[0]?.name}" asks`
  return { ...verdict, decision: 'ask', reason, rules: [...rules, ...verdict.rules] }
}

function isContentWrite(permission: string): boolean {
  return /^file:(write|append|move|copy|patch)/.test(permission)
}

/** A command line, and each command that it would start, in every spelling. */
function linesOf({ tool, input, line, scriptCommands = [] }: AuthorizedCall): string[] {
  const spellings = line?.commands.flatMap(({ text, otherTexts }) => [text, ...otherTexts]) ?? []
  return [tool.commandLine?.(input), ...spellings, ...scriptCommands].filter((text) => text !== undefined)
}

function reasonOf(sink: LabelSink, origin: TaintOrigin): string {
  return `"${sink.name}" takes at most ${sink.ceiling} content, and ${describe(origin)} has been read`
}

function deniedBySink(sink: LabelSink, origin: TaintOrigin, action: string, path?: string): ToolError {
  return new ToolError('TAINT_DENIED', `Cannot ${action}: ${reasonOf(sink, origin)}`, {
    ...(path === undefined ? {} : { path }),
    label: origin.label,
    ceiling: sink.ceiling,
    sink: sink.name,
    origin: { ...origin, ...(origin.path === undefined ? {} : { path: originPath(origin.path) }) },
  })
}

/** Returns the path that messages name. Git derives the names of objects and packs from their contents, so these stay unnamed. */
function originPath(path: string): string {
  return isWithin(path as Path, OBJECTS) ? GIT_DIRECTORY : path
}

const OBJECTS = `${GIT_DIRECTORY}/objects` as Path

function describe({ label, path, callId }: TaintOrigin): string {
  return `${label} content of ${path === undefined ? 'a command' : quote(originPath(path))} (call ${callId})`
}
