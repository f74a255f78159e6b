import type { PolicyInput, WorkspaceHistory } from 'wardspace'
import type { Scenario } from '../agent/types.ts'
import { AGENT_RUNS } from './open-workspace.ts'
import type { ProjectSession } from './project-session.ts'
import type { WorkspaceSettings } from './types.ts'

type Settings = Pick<WorkspaceSettings, 'policy' | 'mode'>

/** The settings that a scenario runs with. */
export function settingsOf({ workspace }: Pick<Scenario, 'workspace'>): Settings {
  return { policy: workspace.policy, mode: workspace.mode ?? 'act' }
}

/** The name of a policy in one or two words. */
export function policyName(policy: PolicyInput): string {
  return typeof policy === 'string' ? policy : (policy.preset ?? 'own rules')
}

/** Whether a policy or a mode is applied that no scenario of the project has. */
export function hasOwnPolicy({ policy, mode }: Settings, scenarios: readonly Pick<Scenario, 'workspace'>[]): boolean {
  const now = JSON.stringify({ policy, mode })
  return scenarios.every((scenario) => JSON.stringify(settingsOf(scenario)) !== now)
}

/** Whether something in the project differs from its start, and others than the agent have changed it. */
export function hasOwnChanges({ entries }: WorkspaceHistory): boolean {
  const first = new Map<string, string>()
  const last = new Map<string, string>()
  const own = new Set<string>()
  for (const { runId, changes } of entries) {
    const isOwn = !runId.startsWith(AGENT_RUNS)
    // What is not kept any more cannot be compared.
    if (changes === undefined && isOwn) return true
    for (const { path, was, became } of changes ?? []) {
      if (!first.has(path)) first.set(path, JSON.stringify(was))
      last.set(path, JSON.stringify(became))
      if (isOwn) own.add(path)
    }
  }
  return [...own].some((path) => first.get(path) !== last.get(path))
}

/** Lists what the person has made or applied in a project that the start of a scenario would replace. */
export function ownWork(
  { session, conversation, changed }: Pick<ProjectSession, 'session' | 'conversation' | 'changed'>,
  scenarios: readonly Pick<Scenario, 'workspace'>[],
): readonly string[] {
  // The person's own model works for the person.
  const isOfOwnModel = conversation.pick.value.kind !== 'scripted' && changed.value.size > 0
  return [
    ...(isOfOwnModel || hasOwnChanges(session.workspace.value.history()) ? ['your changes'] : []),
    ...(hasOwnPolicy(session.settings.value, scenarios) ? ['your policy'] : []),
  ]
}
