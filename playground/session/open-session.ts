import { batch, computed, effect, signal } from '@preact/signals'
import type { Failure, Success, Workspace, WorkspaceRun } from 'wardspace'
import { createApprovalQueue } from './approvals.ts'
import { createAuditLog } from './audit-log.ts'
import { createAutosave } from './autosave.ts'
import { createPoints } from './history.ts'
import { historyToJson } from './history-json.ts'
import { labelOf } from './label.ts'
import { loadSavedSession } from './load-saved-session.ts'
import { log, logged } from './logged-run.ts'
import { type Opened, openWorkspace } from './open-workspace.ts'
import { ownerPolicy, ownersOnly } from './owner.ts'
import { copyOf, type Recording } from './recordings.ts'
import { createShellHolder } from './shells.ts'
import { createTimeline } from './timeline.ts'
import type { Session, SessionProject, WorkspaceSettings } from './types.ts'
import { createWebTools } from './web-tools.ts'

/** What a project is opened with where nothing was kept. */
const defaults: WorkspaceSettings = { policy: { preset: 'supervised' }, mode: 'act', shell: 'bash' }

export interface SessionOptions {
  /** What a project wants that was never opened before. */
  readonly settings?: Partial<WorkspaceSettings>
  /** False where another tab writes: this one only looks. */
  readonly writable?: boolean
  readonly now?: () => number
}

/** Opens a project's session, where it was left. */
export async function openSession(project: SessionProject, options: SessionOptions = {}): Promise<Session> {
  const { writable = true, now = Date.now } = options
  const kept = await loadSavedSession(project)
  const settings = signal<WorkspaceSettings>({ ...defaults, ...options.settings, ...kept.settings })
  const auditLog = createAuditLog(kept.audit)
  const timeline = createTimeline(kept.timeline)
  const approvals = createApprovalQueue(now)
  const points = createPoints(kept.history, kept.points)
  const autosave = createAutosave(project, writable)
  const revision = signal(0)
  const shells = createShellHolder()
  let time = kept.time
  /** Calls of the agent that have not ended. */
  let working = 0
  let runs = 0
  const recording = signal<Recording | undefined>(undefined)
  let lines: string[] | undefined

  function note(line: string): void {
    const now = recording.value
    lines?.push(line)
    if (now !== undefined && !/^\{"type":"(workspace|run|answer)"/.test(line)) {
      recording.value = { ...now, steps: now.steps + 1 }
    }
  }

  /** Opens the next workspace, over the same files and with the same past. */
  async function open(next: WorkspaceSettings, before: Opened | undefined, past = before?.workspace): Promise<Opened> {
    time += 1
    const taint = before?.agent.taint.origin()
    return openWorkspace({
      backend: project.backend,
      audit: auditLog.sink,
      settings: next,
      shell: await shells.use(next.shell),
      history: past?.history() ?? kept.history,
      time,
      readOnly: !writable,
      ...(lines === undefined ? {} : { record: (line: string) => note(line) }),
      agent: {
        ...(before?.agent.task === undefined ? {} : { task: before.agent.task }),
        ...(taint === undefined ? {} : { taint }),
      },
    })
  }

  /** Does something that the policy for agents refuses to everyone: the files are the person's. */
  async function asOwner(act: (owner: Workspace) => Promise<Success | Failure>): Promise<Success | Failure> {
    const before = opened.value
    const owner = await open({ ...settings.value, policy: ownerPolicy, mode: 'act' }, before)
    const result = await act(owner.workspace)
    // What the owner did is part of the past of the workspace that goes on.
    opened.value = await open(settings.value, before, owner.workspace)
    await Promise.all([before.workspace.close(), owner.workspace.close()])
    return result
  }

  /** Under the policy first, and as the owner where it refuses and no agent is at work. */
  async function byPerson(act: (workspace: Workspace) => Promise<Success | Failure>): Promise<Success | Failure> {
    const result = await act(opened.value.workspace)
    if (result.ok || !ownersOnly.has(result.code) || !writable) return result
    if (working > 0 || recording.value !== undefined) {
      return { ...result, hint: 'The policy refuses it. Wait until the agent has ended, then do it once more.' }
    }
    return asOwner(act)
  }

  const opened = signal(await open(settings.value, undefined))
  const parts = { timeline, approvals, now }
  const shellState = signal('')
  const endShell = effect(() => {
    const { shell } = opened.value
    void shell.then((text) => {
      if (opened.peek().shell === shell) shellState.value = text
    })
  })
  const personCall = logged(() => opened.value.workspace, 'person', parts)
  const agentCall = logged(() => opened.value.agent, 'agent', parts)

  // Slider moves make no points of their own.
  let moving = false
  auditLog.onRecord((record) => {
    timeline.take(record)
    if (record.phase !== 'outcome' || record.pathsWritten.length === 0) return
    // The commit has happened; the journal takes it in right after its record.
    queueMicrotask(() =>
      batch(() => {
        revision.value += 1
        if (moving) return
        points.left()
      }),
    )
  })

  /** A point after each change, so that the slider can come back to it. */
  async function withPoint(act: () => Promise<Success | Failure>, label: string): Promise<Success | Failure> {
    const before = revision.value
    const result = await act()
    if (revision.value !== before) points.made(opened.value.workspace.checkpoint(label), false)
    return result
  }

  if (points.all.value.length === 0 && writable) {
    points.made(opened.value.workspace.checkpoint('Opened'), false)
  }

  const agentRun = computed<WorkspaceRun>(() => {
    const { agent } = opened.value
    const callTool: WorkspaceRun['callTool'] = async (name, input, options) => {
      working += 1
      try {
        return await withPoint(() => agentCall(name, input, options), labelOf(name, input))
      } finally {
        working -= 1
      }
    }
    return {
      ...agent,
      get task() {
        return agent.task
      },
      get plan() {
        return agent.plan
      },
      get mode() {
        return agent.mode
      },
      call: callTool as WorkspaceRun['call'],
      callTool,
    }
  })

  const workspace = computed(() => opened.value.workspace)
  const webTools = createWebTools(workspace, (run) => {
    const call = logged(() => run, 'browser', parts)
    return (tool, input, options) => withPoint(() => call(tool, input, options), labelOf(tool, input))
  })

  if (writable) await project.kept.save('settings', { ...settings.value, time })
  /** Another workspace over the same files takes the place of the present one. */
  async function change(changes: Partial<WorkspaceSettings>): Promise<void> {
    // A recording is of one workspace.
    if (recording.value !== undefined) throw new TypeError('Stop the recording first')
    const next = { ...settings.value, ...changes }
    const before = opened.value
    const after = await open(next, before)
    batch(() => {
      opened.value = after
      settings.value = next
    })
    await before.workspace.close()
  }

  async function startRecording(): Promise<void> {
    if (recording.value !== undefined) return
    const start = await copyOf(project.backend)
    const history = opened.value.workspace.history()
    lines = []
    await change({})
    recording.value = { text: '', start, history, steps: 0 }
  }

  async function stopRecording(): Promise<Recording | undefined> {
    const made = recording.value
    const text = lines?.join('\n') ?? ''
    recording.value = undefined
    lines = undefined
    if (made === undefined) return undefined
    await change({})
    return { ...made, text }
  }

  autosave.follow('settings', [settings], () => ({ ...settings.value, time }))
  autosave.follow('audit', [auditLog.records], () => auditLog.records.value)
  autosave.follow('timeline', [timeline.entries], () => timeline.entries.value)
  autosave.follow('history', [revision, points.all, points.position], () => ({
    history: historyToJson(opened.value.workspace.history()),
    points: points.keep(),
  }))

  return {
    project,
    workspace,
    settings,
    agentRun,
    timeline: timeline.entries,
    approvals: approvals.pending,
    audit: auditLog.records,
    history: points.all,
    position: points.position,
    revision,
    change,
    recording,
    startRecording,
    stopRecording,
    call: (tool, input, options) => withPoint(() => personCall(tool, input, options), labelOf(tool, input)),
    save: (path, content, expectedSha256) => {
      const input = { path, content, expectedSha256 }
      return withPoint(
        () =>
          log(parts, { actor: 'person', tool: 'write_file', input }, (key) =>
            byPerson((workspace) =>
              workspace.call('write_file', input, {
                step: `#${key}`,
                approve: () => ({ allow: 'once', by: 'person' }),
              }),
            ),
          ),
        labelOf('write_file', input),
      )
    },
    async beginTask(text) {
      if (working > 0) return
      const before = opened.value
      const run = { id: `agent-${time}-${++runs}`, actor: 'agent', task: { text } }
      opened.value = { ...before, agent: before.workspace.run(run) }
    },
    webTools,
    shell: shellState,
    async checkpoint(label) {
      points.made(opened.value.workspace.checkpoint(label), true)
    },
    async moveTo(id) {
      moving = true
      try {
        // So that one can come back to what is there now.
        if (points.position.value === undefined) {
          points.made(opened.value.workspace.checkpoint('Before going back'), false)
        }
        const result = await log(parts, { actor: 'person', tool: 'rollback', input: { checkpoint: id } }, (key) =>
          byPerson((workspace) =>
            workspace.rollback(id, { step: `#${key}`, approve: () => ({ allow: 'once', by: 'person' }) }),
          ),
        )
        if (result.ok) points.moved(id)
        return result
      } finally {
        moving = false
      }
    },
    undo: (callId) =>
      withPoint(
        () =>
          log(parts, { actor: 'person', tool: 'undo', input: { callId } }, (key) =>
            byPerson((workspace) =>
              workspace.undo(callId, { step: `#${key}`, approve: () => ({ allow: 'once', by: 'person' }) }),
            ),
          ),
        `undo ${callId}`,
      ),
    flush: autosave.flush,
    trouble: autosave.trouble,
    async close() {
      webTools.end()
      endShell()
      await autosave.close()
      await opened.value.workspace.close()
      await shells.close()
    },
  }
}
