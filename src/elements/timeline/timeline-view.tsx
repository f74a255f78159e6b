import { useState } from 'preact/hooks'
import type { TimelineEntry } from '../../ui/timeline.ts'
import { aboutCall } from '../../ui/words/call-words.ts'
import { refusalsOf } from '../../ui/words/refusals.ts'
import { counted } from '../../util/counted.ts'
import { ownValue } from '../../util/own-value.ts'
import type { ViewContext } from '../define-element.ts'
import { useSnapshot } from '../parts/use-snapshot.ts'
import { Outcome } from '../parts/verdict.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import type { TimelineProperties } from '../properties.ts'
import styles from './timeline.css?inline'

export { styles }

/** All calls in order, with their outcome. */
export function View({ controller, selected, dispatch }: TimelineProperties & ViewContext) {
  const all = useSnapshot(controller).entries
  const [blockedOnly, setBlockedOnly] = useState(false)
  const [active, setActive] = useState(-1)
  if (all.length === 0) {
    return (
      <div class="empty">
        <p>Each call of the agent appears here, with its verdict and its real effect.</p>
      </div>
    )
  }
  const entries = blockedOnly ? all.filter((entry) => refusalsOf(entry).length > 0) : all
  const open = (row: number) => dispatch('wardspace-open-call', { key: entries[row]?.key })
  return (
    <div class="fill">
      <div class="bar">
        <span class="grow muted">{counted(entries.length, 'call')}</span>
        <button
          type="button"
          class="button quiet"
          aria-pressed={blockedOnly}
          onClick={() => {
            setBlockedOnly(!blockedOnly)
            setActive(-1)
          }}
        >
          Blocked only
        </button>
      </div>
      <VirtualList
        label="Timeline of calls"
        name="timeline"
        count={entries.length}
        rowHeight={44}
        active={active}
        follow
        onActive={setActive}
        onOpen={open}
        attributes={(row) => ({ 'data-call': entries[row]?.key, 'aria-current': entries[row]?.key === selected })}
        row={(row) => entries[row] !== undefined && <CallRow entry={entries[row]} />}
      />
    </div>
  )
}

const actors: Readonly<Record<string, string>> = { person: 'you', browser: 'browser' }

function CallRow({ entry }: { readonly entry: TimelineEntry }) {
  const { actor, durationMs } = entry
  return (
    <div class="call-row">
      <span class="muted number">{entry.key}</span>
      <div class="grow">
        <div class="row">
          <strong class="mono cut">{entry.tool}</strong>
          {actor !== 'agent' && <span class="tag">{ownValue(actors, actor) ?? actor}</span>}
          <span class="grow" />
          <Outcome entry={entry} />
        </div>
        <div class="row">
          <span class="muted mono cut grow">{aboutCall(entry.tool, entry.input) || '\u00a0'}</span>
          <span class="muted small number">{durationMs === undefined ? '' : `${durationMs} ms`}</span>
        </div>
      </div>
    </div>
  )
}
