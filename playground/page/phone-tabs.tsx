import { Icon, type IconName } from '../../src/elements/parts/icon.tsx'
import type { PhoneTab } from './page-state.ts'

export interface PhoneTabsProps {
  readonly active: PhoneTab
  readonly changed: number
  /** Number of approvals that wait. */
  readonly waiting: number
  readonly onSelect: (tab: PhoneTab) => void
}

/** The tabs at the bottom of a phone's screen. */
export function PhoneTabs({ active, changed, waiting, onSelect }: PhoneTabsProps) {
  const tabs: readonly { id: PhoneTab; label: string; icon: IconName; count: number }[] = [
    { id: 'agent', label: 'Agent', icon: 'chat', count: waiting },
    { id: 'files', label: 'Files', icon: 'files', count: 0 },
    { id: 'changes', label: 'Changes', icon: 'diff', count: changed },
    { id: 'more', label: 'More', icon: 'dots', count: 0 },
  ]
  return (
    <nav class="phone-tabs" aria-label="Views">
      {tabs.map(({ id, label, icon, count }) => (
        <button key={id} type="button" aria-current={id === active ? 'page' : undefined} onClick={() => onSelect(id)}>
          <Icon name={icon} size={20} />
          {label}
          {count > 0 && <span class="count">{count}</span>}
        </button>
      ))}
    </nav>
  )
}
