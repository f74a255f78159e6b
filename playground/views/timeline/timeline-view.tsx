import './timeline.css'
import { type ReadonlySignal, useSignal } from '@preact/signals'
import type { TimelineEntry } from 'wardspace/ui'
import { aboutCall } from 'wardspace/ui'
import { Outcome } from '../../../src/elements/parts/verdict.tsx'
import { VirtualList } from '../../../src/elements/parts/virtual-list.tsx'

export interface TimelineViewProps {
  readonly timeline: ReadonlySignal<readonly TimelineEntry[]>
  /** Key of the call that is shown with all details. */
  readonly selected: ReadonlySignal<string | undefined>
  readonly onOpen: (key: string) => void
}

/** All calls in order, with their outcome. */
export function TimelineView({ timeline, selected, onOpen }: TimelineViewProps) {
  const refusedOnly = useSignal(false)
  const entries = timeline.value.filter(
    ({ result, record }) =>
      !refusedOnly.value || result?.ok === false || (record?.refusals !== undefined && record.refusals.length > 0),
  )
  const active = useSignal(-1)
  if (timeline.value.length === 0) {
    return (
      <div class="empty">
        <p>Each call of the agent appears here, with its verdict and its real effect.</p>
      </div>
    )
  }
  return (
    <div class="fill">
      <div class="bar">
        <span class="grow muted">{entries.length} calls</span>
        <button
          type="button"
          class="button quiet"
          aria-pressed={refusedOnly.value}
          onClick={() => {
            refusedOnly.value = !refusedOnly.value
            active.value = -1
          }}
        >
          Refused only
        </button>
      </div>
      <VirtualList
        label="Timeline of calls"
        name="timeline"
        count={entries.length}
        rowHeight={44}
        active={active.value}
        follow
        onActive={(row) => {
          active.value = row
        }}
        onOpen={(row) => entries[row] && onOpen(entries[row].key)}
        attributes={(row) => ({
          'data-call': entries[row]?.key,
          'aria-current': entries[row]?.key === selected.value,
        })}
        row={(row) => {
          const entry = entries[row]
          if (entry === undefined) return null
          return (
            <div class={`call-row ${entry.actor}`}>
              <span class="muted number">{entry.key}</span>
              <div class="grow">
                <div class="row">
                  <strong class="mono cut">{entry.tool}</strong>
                  {entry.actor !== 'agent' && <span class="tag">{entry.actor === 'person' ? 'you' : 'browser'}</span>}
                  <span class="grow" />
                  <Outcome entry={entry} />
                </div>
                <div class="row">
                  <span class="muted mono cut grow">{aboutCall(entry.tool, entry.input) || '\u00a0'}</span>
                  <span class="muted small number">
                    {entry.durationMs === undefined ? '' : `${entry.durationMs} ms`}
                  </span>
                </div>
              </div>
            </div>
          )
        }}
      />
    </div>
  )
}
