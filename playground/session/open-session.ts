import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { createApprovals, createTimeline } from 'wardspace/ui'
import { createAuditLog } from './audit-log.ts'
import { createAutosave } from './autosave.ts'
import { ChangePoints } from './change-points.ts'
import { CurrentWorkspace } from './current-workspace.ts'
import { createPoints } from './history.ts'
import { historyToJson } from './history-json.ts'
import { loadSavedSession } from './load-saved-session.ts'
import { type CallParts, createPersonActions, trackAgentRun, trackBrowserRun } from './session-calls.ts'
import { snapshotSignal } from './snapshot-signal.ts'
import type { Session, SessionProject, WorkspaceSettings } from './types.ts'
import { createWebTools } from './web-tools.ts'

/** Settings of a project without saved ones. */
const defaults: WorkspaceSettings = { policy: { preset: 'supervised' }, mode: 'act', shell: 'bash' }

export interface SessionOptions {
  /** Settings of a project that was never opened before. */
  readonly settings?: Partial<WorkspaceSettings>
  /** False if another tab writes the project: this one only reads it. */
  readonly writable?: boolean
  readonly now?: () => number
}

/** Opens the session of a project and restores its saved state. */
export async function openSession(project: SessionProject, options: SessionOptions = {}): Promise<Session> {
  const { writable = true, now = Date.now } = options
  const saved = await loadSavedSession(project)
  const auditLog = createAuditLog(saved.audit)
  const timeline = createTimeline(saved.timeline)
  const approvals = createApprovals({ now })
  const calls = snapshotSignal(timeline)
  const asked = snapshotSignal(approvals)
  const points = createPoints(saved.history, saved.points)
  const autosave = createAutosave(project, writable)
  const settings = { ...defaults, ...options.settings, ...saved.settings }
  const current = await CurrentWorkspace.open({ project, audit: auditLog.sink, settings, saved, writable })
  const shell = showShell(current)
  const changes = new ChangePoints(current, points)
  auditLog.onRecord((record) => {
    timeline.take(record)
    changes.take(record)
  })
  if (points.all.value.length === 0 && writable) changes.add('As it was opened', false)

  const parts: CallParts = { current, changes, timeline, approvals, now }
  const workspace = computed(() => current.workspace)
  const webTools = createWebTools(workspace, (run) => trackBrowserRun(run, parts))

  if (writable) await project.kept.save('settings', current.savedSettings())
  autosave.follow('settings', [current.settings, current.opened, auditLog.records], () => current.savedSettings())
  autosave.follow('audit', [auditLog.records], () => auditLog.records.value)
  autosave.follow('timeline', [calls], () => calls.value.entries)
  autosave.follow('history', [changes.revision, points.all, points.position], () => ({
    history: historyToJson(current.workspace.history()),
    points: points.keep(),
  }))

  return {
    project,
    workspace,
    settings: current.settings,
    change(changed) {
      approvals.endPatterns()
      return current.change(changed)
    },
    agentRun: trackAgentRun(parts),
    beginTask(text) {
      approvals.endPatterns()
      return current.beginRun({ task: { text } })
    },
    agentState: () => current.savedSettings().agent,
    resumeRun(agent) {
      approvals.endPatterns()
      return current.beginRun(agent)
    },
    ...createPersonActions(parts),
    webTools,
    shell: shell.text,
    lines: current.lines,
    timeline: computed(() => calls.value.entries),
    callTimeline: timeline,
    approvals: computed(() => asked.value.pending),
    approvalQueue: approvals,
    audit: auditLog.records,
    history: points.all,
    position: points.position,
    target: changes.target,
    revision: changes.revision,
    recording: current.recording,
    startRecording: () => current.startRecording(),
    stopRecording: () => current.stopRecording(),
    flush: autosave.flush,
    copyTo: autosave.copyTo,
    trouble: autosave.trouble,
    async close() {
      webTools.end()
      shell.end()
      await autosave.close()
      await current.close()
    },
  }
}

/** Follows the description of the current workspace's shell. */
function showShell({ opened }: CurrentWorkspace): { readonly text: ReadonlySignal<string>; end(): void } {
  const shown = signal('')
  const end = effect(() => {
    const { shell } = opened.value
    void shell.then((text) => {
      if (opened.peek().shell === shell) shown.value = text
    })
  })
  return { text: shown, end }
}
