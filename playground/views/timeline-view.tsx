import { useSignal } from '@preact/signals'
import type { ProjectSession } from '../session/project-session.ts'
import { VirtualList } from '../ui/virtual-list.tsx'
import { page, showCall } from './page-state.ts'
import { aboutCall, Outcome } from './verdict.tsx'

/** All calls in order, with their outcome. */
export function TimelineView({ projectSession }: { readonly projectSession: ProjectSession }) {
  const refusedOnly = useSignal(false)
  const entries = projectSession.session.timeline.value.filter(
    ({ result, record }) =>
      !refusedOnly.value || result?.ok === false || (record?.refusals !== undefined && record.refusals.length > 0),
  )
  const active = useSignal(-1)
  if (projectSession.session.timeline.value.length === 0) {
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
        rowHeight={42}
        active={active.value}
        follow
        onActive={(row) => {
          active.value = row
        }}
        onOpen={(row) => entries[row] && showCall(entries[row].key)}
        attributes={(row) => ({
          'data-call': entries[row]?.key,
          'aria-current': entries[row]?.key === page.call.value,
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
                  <span class="muted number">{entry.durationMs === undefined ? '' : `${entry.durationMs} ms`}</span>
                  <Outcome entry={entry} />
                </div>
                <div class="muted mono cut">{aboutCall(entry.tool, entry.input) || '\u00a0'}</div>
              </div>
            </div>
          )
        }}
      />
    </div>
  )
}
