import { Icon } from '../../src/elements/parts/icon.tsx'
import { counted } from '../../src/util/counted.ts'
import { ownValue } from '../../src/util/own-value.ts'
import { policyName } from '../session/own-work.ts'
import type { ProjectSession } from '../session/project-session.ts'
import { History } from './history.tsx'

export interface StatusLineProps {
  readonly projectSession: ProjectSession
  readonly onPolicy: () => void
  readonly onChanges: () => void
}

/** What the agent has read, in the words of a person. The label is that of the run. */
const readWords: Readonly<Record<string, string>> = {
  public: 'public files only',
  internal: 'internal files',
  confidential: 'confidential files: it cannot publish now',
  restricted: 'restricted files: it cannot publish now',
}

/** The policy, what the run has read, the changes and the history of the files, in one line. */
export function StatusLine({ projectSession, onPolicy, onChanges }: StatusLineProps) {
  const { session } = projectSession
  const { policy, mode } = session.settings.value
  session.audit.value
  const run = session.agentRun.value
  const label = run.taint.label()
  const changed = projectSession.changedCount.value
  return (
    <footer class="status-line">
      <button type="button" class="button quiet" title="The policy that every call passes" onClick={onPolicy}>
        <Icon name="shield" />
        <span class="wide-word">Policy</span> <strong>{policyName(policy)}</strong>
        {mode === 'plan' && (
          <span class={`tag ${run.plan === undefined ? 'warn' : 'good'}`}>
            {run.plan === undefined ? 'plan first' : 'plan approved'}
          </span>
        )}
      </button>
      <button type="button" class="button quiet" title="What the agent has read in this run" onClick={onPolicy}>
        <Icon name="eye" />
        <span class="wide-word">Has read</span>
        <span class={`cut ${label === 'public' ? '' : `tag taint-${label}`}`}>
          {ownValue(readWords, label) ?? label}
        </span>
      </button>
      <button type="button" class="button quiet" title="Changes since the project was first opened" onClick={onChanges}>
        <Icon name="diff" />
        {changed === 0 ? 'No changes' : counted(changed, 'change')}
      </button>
      <History projectSession={projectSession} id="history" />
    </footer>
  )
}
