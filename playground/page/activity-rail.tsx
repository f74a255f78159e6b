import { Icon, type IconName } from '../../src/elements/parts/icon.tsx'
import type { PanelName } from './page-state.ts'

export interface Activity {
  readonly panel: PanelName
  readonly label: string
  readonly icon: IconName
  /** Shown on the icon. */
  readonly count?: number
}

/** The activities, in the order of the rail. */
export function activities(changed: number): readonly Activity[] {
  return [
    { panel: 'files', label: 'Files', icon: 'files' },
    { panel: 'search', label: 'Search', icon: 'search' },
    { panel: 'changes', label: 'Changes', icon: 'diff', count: changed },
    { panel: 'timeline', label: 'Timeline', icon: 'list' },
    { panel: 'policy', label: 'Policy', icon: 'shield' },
    { panel: 'report', label: 'Report', icon: 'report' },
  ]
}

export interface ActivityRailProps {
  readonly activities: readonly Activity[]
  readonly active: PanelName | undefined
  readonly onSelect: (panel: PanelName) => void
}

/** The activities at the edge of the page. The active one has its panel open. */
export function ActivityRail({ activities, active, onSelect }: ActivityRailProps) {
  return (
    <nav class="rail" aria-label="Activities">
      {activities.map(({ panel, label, icon, count = 0 }) => (
        <button
          key={panel}
          type="button"
          class="rail-button"
          data-panel={panel}
          aria-label={count === 0 ? label : `${label} ${count > 99 ? '99+' : count}`}
          aria-pressed={panel === active}
          title={count === 0 ? label : `${label}: ${count}`}
          onClick={() => onSelect(panel)}
        >
          <Icon name={icon} size={20} />
          {count > 0 && <span class="count">{count > 99 ? '99+' : count}</span>}
        </button>
      ))}
    </nav>
  )
}
