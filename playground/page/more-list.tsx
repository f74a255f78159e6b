import { Icon, type IconName } from '../../src/elements/parts/icon.tsx'
import type { ProjectSession } from '../session/project-session.ts'
import { History } from './history.tsx'
import { showPanel, showStage, showTerminal } from './navigation.ts'

interface Entry {
  readonly label: string
  readonly about: string
  readonly icon: IconName
  readonly onOpen: () => void
}

/** The views that have no tab of their own on a phone. */
const entries: readonly Entry[] = [
  { label: 'Search', about: 'Find files and text', icon: 'search', onOpen: () => showPanel('search') },
  { label: 'Terminal', about: 'Run commands on the files', icon: 'terminal', onOpen: showTerminal },
  { label: 'Timeline', about: 'Each call with its verdict', icon: 'list', onOpen: () => showPanel('timeline') },
  { label: 'Policy', about: 'Who may do what where', icon: 'shield', onOpen: () => showStage('policy') },
  { label: 'Limits', about: 'What this run has read and used', icon: 'eye', onOpen: () => showPanel('policy') },
  { label: 'Report', about: 'What a run did and tried', icon: 'report', onOpen: () => showStage('report') },
  { label: 'Runs and recordings', about: 'Verify, record, replay', icon: 'play', onOpen: () => showPanel('report') },
]

/** Lists the other views on a phone, with the history of the files. */
export function MoreList({ projectSession }: { readonly projectSession: ProjectSession }) {
  return (
    <div class="fill scroll">
      <ul class="more-list">
        {entries.map(({ label, about, icon, onOpen }) => (
          <li key={label}>
            <button type="button" onClick={onOpen}>
              <Icon name={icon} size={20} />
              <span class="grow">
                <strong>{label}</strong>
                <span class="muted">{about}</span>
              </span>
              <Icon name="chevron" />
            </button>
          </li>
        ))}
      </ul>
      <div class="more-history">
        <h3>History of the files</h3>
        <History projectSession={projectSession} id="history" />
      </div>
    </div>
  )
}
