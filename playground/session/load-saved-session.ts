import type { AuditRecord, WorkspaceHistory } from 'wardspace'
import type { TimelineEntry } from 'wardspace/ui'
import type { SavedPoints } from './history.ts'
import { historyFromJson } from './history-json.ts'
import type { SavedSettings, SessionProject, WorkspaceSettings } from './types.ts'

/** The saved data of a session. */
export interface SavedSession {
  readonly settings: Partial<WorkspaceSettings>
  readonly time: number
  readonly agent: SavedSettings['agent']
  readonly audit: readonly AuditRecord[]
  readonly timeline: readonly TimelineEntry[]
  readonly history: WorkspaceHistory | undefined
  readonly points: SavedPoints | undefined
}

export async function loadSavedSession({ kept }: SessionProject): Promise<SavedSession> {
  const [settings, audit, timeline, past] = await Promise.all(
    ['settings', 'audit', 'timeline', 'history'].map((name) => kept.load(name)),
  )
  const { time = 0, agent = {}, ...chosen } = (settings ?? {}) as Partial<SavedSettings>
  const { history, points } = (past ?? {}) as { history?: unknown; points?: SavedPoints }
  return {
    settings: chosen,
    time,
    agent,
    audit: (audit ?? []) as readonly AuditRecord[],
    timeline: (timeline ?? []) as readonly TimelineEntry[],
    history: historyFromJson(history),
    points,
  }
}
