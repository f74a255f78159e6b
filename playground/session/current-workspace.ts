import { batch, type Signal, signal } from '@preact/signals'
import type { AuditSink, Failure, PolicyInput, Success, Workspace } from 'wardspace'
import type { Tool } from 'wardspace/tool'
import type { SavedSession } from './load-saved-session.ts'
import { AGENT_RUNS, type Opened, openWorkspace } from './open-workspace.ts'
import { ownerPolicy, ownersOnly } from './owner.ts'
import { Recorder } from './recorder.ts'
import { copyOf, type Recording } from './recordings.ts'
import { createShellHolder } from './shells.ts'
import type { SavedSettings, SessionProject, WorkspaceSettings } from './types.ts'

/** An action in a workspace. */
export type Act = (workspace: Workspace) => Promise<Success | Failure>

export interface CurrentWorkspaceOptions {
  readonly project: SessionProject
  readonly audit: AuditSink
  readonly settings: WorkspaceSettings
  readonly saved: Pick<SavedSession, 'history' | 'time' | 'agent'>
  readonly writable: boolean
}

/** Why nothing is changed while another tab has the project. */
export const elsewhere = { message: 'Another tab has the project', hint: 'Take it over to save.' }

/** What a new run of the agent continues with: the task, the taint and the approved plan. */
function agentOf({ agent: { task, taint, plan }, mode }: Opened): SavedSettings['agent'] {
  const origin = taint.origin()
  return {
    ...(task !== undefined && { task }),
    ...(origin !== undefined && { taint: origin }),
    // Without plan mode, nothing is planned: a plan from before does not count when it is turned on again.
    ...(plan !== undefined && mode === 'plan' && { plan }),
  }
}

interface OwnerOptions {
  readonly policy: PolicyInput
  readonly extraTools?: readonly Tool[]
}

/** Opens workspaces one after the other over the same files. */
class WorkspaceOpener {
  readonly options: CurrentWorkspaceOptions
  readonly recorder = new Recorder()
  readonly shells = createShellHolder()
  /** Number of the last opening, over all sessions of the project. */
  time: number

  constructor(options: CurrentWorkspaceOptions) {
    this.options = options
    this.time = options.saved.time
  }

  /** Opens a workspace with the history of `past`, and with what the agent in `before` continues with. */
  async open(
    settings: WorkspaceSettings,
    before?: Opened,
    past = before?.workspace,
    extraTools?: readonly Tool[],
  ): Promise<Opened> {
    const { project, audit, saved, writable } = this.options
    this.time += 1
    const agent = before === undefined ? saved.agent : agentOf(before)
    const shell = await this.shells.use(settings.shell)
    const { record } = this.recorder
    return openWorkspace({
      backend: project.backend,
      audit,
      settings,
      shell,
      history: past?.history() ?? saved.history,
      time: this.time,
      readOnly: !writable,
      ...(record === undefined ? {} : { record }),
      ...(extraTools === undefined ? {} : { extraTools }),
      agent,
    })
  }
}

/** The workspace of a session. Changed settings, a recording and an act of the owner replace it over the same files. */
export class CurrentWorkspace {
  readonly opened: Signal<Opened>
  readonly settings: Signal<WorkspaceSettings>
  /** Number of the agent's calls that have not ended. */
  agentCalls = 0
  readonly #opener: WorkspaceOpener
  #owning: Promise<unknown> = Promise.resolve()
  #tasks = 0

  private constructor(opener: WorkspaceOpener, opened: Opened) {
    this.#opener = opener
    this.opened = signal(opened)
    this.settings = signal(opener.options.settings)
  }

  static async open(options: CurrentWorkspaceOptions): Promise<CurrentWorkspace> {
    const opener = new WorkspaceOpener(options)
    return new CurrentWorkspace(opener, await opener.open(options.settings))
  }

  get workspace(): Workspace {
    return this.opened.value.workspace
  }

  get recording() {
    return this.#opener.recorder.current
  }

  get lines() {
    return this.#opener.shells.lines
  }

  /** The settings in the form in which they are saved. */
  savedSettings(): SavedSettings {
    return { ...this.settings.value, time: this.#opener.time, agent: agentOf(this.opened.value) }
  }

  /** Replaces the workspace by one with changed settings. */
  async change(changes: Partial<WorkspaceSettings>): Promise<void> {
    // A recording is of one workspace.
    if (this.recording.value !== undefined) throw new TypeError('Stop the recording first')
    const settings = { ...this.settings.value, ...changes }
    const before = this.opened.value
    const after = await this.#opener.open(settings, before)
    batch(() => {
      this.opened.value = after
      this.settings.value = settings
    })
    await before.workspace.close()
  }

  /** Acts under the policy of the agent. If that refuses and no agent is working, acts under the policy for the person. */
  async byPerson(act: Act, policy: PolicyInput): Promise<Success | Failure> {
    await this.#endPlanModeOfPerson()
    const result = await act(this.workspace)
    if (result.ok || !ownersOnly.has(result.code)) return result
    if (!this.#isWritable) {
      // The policy of the agent would not stop the owner.
      return result.code === 'READ_ONLY' || policy === ownerPolicy ? { ...result, ...elsewhere } : result
    }
    const reason = this.#reasonAgainstOwner()
    if (reason !== undefined) {
      const message = `${reason}, and the policy of the agent applies to you too: ${result.message}`
      return { ...result, message, hint: 'Wait until it has ended, then try again.' }
    }
    return this.#asOwner(act, { policy })
  }

  /** Acts as the owner of the files, with tools that only the person has. Refuses while the agent is working. */
  async byOwner(act: Act, extraTools: readonly Tool[]): Promise<Success | Failure> {
    if (!this.#isWritable) return { ok: false, code: 'READ_ONLY', ...elsewhere }
    const reason = this.#reasonAgainstOwner()
    if (reason === undefined) return this.#asOwner(act, { policy: ownerPolicy, extraTools })
    return { ok: false, code: 'READ_ONLY', message: reason, hint: 'Wait until it has ended, then try again.' }
  }

  /** False also once another tab has taken the project over. */
  get #isWritable(): boolean {
    const { writable, project } = this.#opener.options
    return writable && project.writable !== false
  }

  /** The owner acts in a workspace of their own, which must not replace the one in use. */
  #reasonAgainstOwner(): string | undefined {
    if (this.agentCalls > 0) return 'The agent is working'
    return this.recording.value === undefined ? undefined : 'A recording is running'
  }

  /** Plan mode is for the agent. The plan of the person's own run ends it for that run alone. */
  async #endPlanModeOfPerson(): Promise<void> {
    const { workspace } = this
    if (workspace.mode !== 'plan') return
    await workspace.callTool(
      'submit_plan',
      { plan: 'The person works on the files.' },
      { approve: () => ({ allow: 'once', by: 'person' }) },
    )
  }

  /** Runs one act after the other: each continues the history of the one before it. */
  #asOwner(act: Act, options: OwnerOptions): Promise<Success | Failure> {
    const acted = this.#owning.then(() => this.#actAsOwner(act, options))
    this.#owning = acted.catch(() => undefined)
    return acted
  }

  async #actAsOwner(act: Act, { policy, extraTools }: OwnerOptions): Promise<Success | Failure> {
    const before = this.opened.value
    const settings: WorkspaceSettings = { ...this.settings.value, policy, mode: 'act' }
    const owner = await this.#opener.open(settings, before, before.workspace, extraTools)
    const result = await act(owner.workspace)
    // The history of the next workspace includes the owner's act.
    this.opened.value = await this.#opener.open(this.settings.value, before, owner.workspace)
    await Promise.all([before.workspace.close(), owner.workspace.close()])
    return result
  }

  /** Opens a run of the agent with a task and a taint, unless the agent is working. */
  async beginRun(agent: SavedSettings['agent']): Promise<void> {
    if (this.agentCalls > 0) return
    const before = this.opened.value
    this.#tasks += 1
    const run = { id: `${AGENT_RUNS}${this.#opener.time}-${this.#tasks}`, actor: 'agent', ...agent }
    this.opened.value = { ...before, agent: before.workspace.run(run) }
  }

  async startRecording(): Promise<void> {
    const { recorder, options } = this.#opener
    if (this.recording.value !== undefined) return
    const start = await copyOf(options.project.backend)
    const history = this.workspace.history()
    recorder.collect()
    await this.change({})
    recorder.start({ start, history })
  }

  async stopRecording(): Promise<Recording | undefined> {
    const recording = this.#opener.recorder.stop()
    if (recording !== undefined) await this.change({})
    return recording
  }

  async close(): Promise<void> {
    await this.workspace.close()
    await this.#opener.shells.close()
  }
}
