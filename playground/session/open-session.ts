import { batch, computed, signal } from '@preact/signals'
import type { AuditRecord, CallOptions, Failure, Success, WorkspaceHistory, WorkspaceRun } from 'wardspace'
import { createApprovalQueue } from './approvals.ts'
import { createAuditLog } from './audit-log.ts'
import { createPoints, type KeptPoints } from './history.ts'
import { historyFromJson, historyToJson } from './history-json.ts'
import { createKeeper } from './keep.ts'
import { log, logged } from './logged-run.ts'
import { type Opened, openWorkspace } from './open-workspace.ts'
import { copyOf, type Recording } from './recordings.ts'
import { createTimeline } from './timeline.ts'
import type { Session, SessionProject, TimelineEntry, WorkspaceSettings } from './types.ts'

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
  const kept = await loadKept(project)
  const settings = signal<WorkspaceSettings>({ ...defaults, ...options.settings, ...kept.settings })
  const auditLog = createAuditLog(kept.audit)
  const timeline = createTimeline(kept.timeline)
  const approvals = createApprovalQueue(now)
  const points = createPoints(kept.history, kept.points)
  const keeper = createKeeper(project, writable)
  const revision = signal(0)
  let time = kept.time
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
  async function open(next: WorkspaceSettings, before: Opened | undefined): Promise<Opened> {
    time += 1
    const taint = before?.agent.taint.origin()
    return openWorkspace({
      backend: project.backend,
      audit: auditLog.sink,
      settings: next,
      history: before?.workspace.history() ?? kept.history,
      time,
      readOnly: !writable,
      ...(lines === undefined ? {} : { record: (line: string) => note(line) }),
      agent: {
        ...(before?.agent.task === undefined ? {} : { task: before.agent.task }),
        ...(taint === undefined ? {} : { taint }),
      },
    })
  }

  const opened = signal(await open(settings.value, undefined))
  const parts = { timeline, approvals, now }
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
    return {
      ...agent,
      get task() {
        return agent.task
      },
      get plan() {
        return agent.plan
      },
      call: ((name: string, input: unknown, how?: CallOptions) =>
        withPoint(() => agentCall(name, input, how), labelOf(name, input))) as WorkspaceRun['call'],
    }
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
    lines = []
    await change({})
    recording.value = { text: '', start, steps: 0 }
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

  keeper.follow('settings', [settings], () => ({ ...settings.value, time }))
  keeper.follow('audit', [auditLog.records], () => auditLog.records.value)
  keeper.follow('timeline', [timeline.entries], () => timeline.entries.value)
  keeper.follow('history', [revision, points.all, points.position], () => ({
    history: historyToJson(opened.value.workspace.history()),
    points: points.keep(),
  }))

  return {
    project,
    workspace: computed(() => opened.value.workspace),
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
    call: (tool, input, how) => withPoint(() => personCall(tool, input, how), labelOf(tool, input)),
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
          opened.value.workspace.rollback(id, { step: `#${key}`, approve: () => ({ allow: 'once', by: 'person' }) }),
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
            opened.value.workspace.undo(callId, {
              step: `#${key}`,
              approve: () => ({ allow: 'once', by: 'person' }),
            }),
          ),
        `undo ${callId}`,
      ),
    flush: keeper.flush,
    trouble: keeper.trouble,
    async close() {
      await keeper.close()
      await opened.value.workspace.close()
    },
  }
}

interface Kept {
  readonly settings: Partial<WorkspaceSettings>
  readonly time: number
  readonly audit: readonly AuditRecord[]
  readonly timeline: readonly TimelineEntry[]
  readonly history: WorkspaceHistory | undefined
  readonly points: KeptPoints | undefined
}

async function loadKept({ kept }: SessionProject): Promise<Kept> {
  const [settings, audit, timeline, past] = await Promise.all(
    ['settings', 'audit', 'timeline', 'history'].map((name) => kept.load(name)),
  )
  const { time = 0, ...chosen } = (settings ?? {}) as Partial<WorkspaceSettings> & { time?: number }
  const { history, points } = (past ?? {}) as { history?: unknown; points?: KeptPoints }
  return {
    settings: chosen,
    time,
    audit: (audit ?? []) as readonly AuditRecord[],
    timeline: (timeline ?? []) as readonly TimelineEntry[],
    history: historyFromJson(history),
    points,
  }
}

/** What a point is called: the tool with what it was about. */
function labelOf(tool: string, input: unknown): string {
  const { path, command } = (input ?? {}) as { path?: unknown; command?: unknown }
  const about = typeof path === 'string' ? path : typeof command === 'string' ? command : ''
  return about === '' ? tool : `${tool} ${about.slice(0, 80)}`
}
