import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

export interface Tab {
  readonly id: string
  readonly label: string
  /** Number of waiting items, shown after the label. */
  readonly count?: number
}

export interface TabsProps {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly active: string
  readonly onSelect: (id: string) => void
  /** Prefix of the ids of tabs and panel. */
  readonly name: string
  readonly children?: ComponentChildren
}

/** A row of tabs. The active one can be focused, and the arrow keys move to the others. */
export function Tabs({ label, tabs, active, onSelect, name, children }: TabsProps) {
  const element = useRef<HTMLDivElement>(null)
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex(({ id }) => id === active)
    const next =
      event.key === 'ArrowRight'
        ? at + 1
        : event.key === 'ArrowLeft'
          ? at - 1
          : event.key === 'Home'
            ? 0
            : event.key === 'End'
              ? tabs.length - 1
              : undefined
    if (next === undefined) return
    const tab = tabs[(next + tabs.length) % tabs.length]
    if (tab === undefined) return
    event.preventDefault()
    onSelect(tab.id)
    element.current?.querySelector<HTMLElement>(`#${name}-tab-${tab.id}`)?.focus()
  }
  return (
    <div class="tabs" ref={element}>
      <div class="row" style={{ gap: 0 }} role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${name}-tab-${tab.id}`}
            aria-controls={`${name}-panel`}
            aria-selected={tab.id === active}
            tabIndex={tab.id === active ? 0 : -1}
            onClick={() => onSelect(tab.id)}
          >
            {tab.label}
            {tab.count ? <span class="count">{tab.count}</span> : null}
          </button>
        ))}
      </div>
      {children}
    </div>
  )
}
