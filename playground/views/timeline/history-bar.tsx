import { useSignal } from '@preact/signals'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { IconButton } from '../../../src/elements/parts/icon-button.tsx'
import type { ProjectSession } from '../../session/project-session.ts'

/** With more states, marks would be a line. */
const MAX_MARKS = 80

export interface HistoryBarProps {
  readonly projectSession: ProjectSession
  /** The id of the slider. */
  readonly id: string | undefined
  /** The point whose files are shown in place of the present ones. */
  readonly past: string | undefined
  /** Whether the files follow the slider while it moves, and not only when it is released. */
  readonly isLive: boolean
  readonly onPast: (point: string) => void
  readonly onNow: () => void
  /** Called for the key Enter on the slider. */
  readonly onEnter: () => void
}

/** The history of the files: a line with a mark for each state. The slider shows earlier and later ones. */
export function HistoryBar({ projectSession, id, past, isLive, onPast, onNow, onEnter }: HistoryBarProps) {
  const { session } = projectSession
  const points = session.history.value
  const dragged = useSignal<number | undefined>(undefined)
  const indexOf = (point: string | undefined) => points.findIndex(({ id }) => id === point)
  const at = indexOf(session.target.value ?? session.position.value)
  const now = at === -1 ? points.length : at
  const last = at === -1 ? points.length : points.length - 1
  const shown = dragged.value ?? (past === undefined ? now : indexOf(past))
  const isStill = projectSession.conversation.isWorking.value || !projectSession.writable.value
  const nameOf = (index: number) => points[index]?.label ?? 'Changed since then'

  const go = (index: number) => {
    const point = points[index]
    dragged.value = undefined
    if (point === undefined || index === now) onNow()
    else onPast(point.id)
  }

  return (
    <section class={`history-bar ${past === undefined ? '' : 'past'}`} aria-label="History of the files">
      <IconButton
        icon="undo"
        label="One state back"
        title="Look at the state before"
        disabled={shown <= 0}
        onClick={() => go(shown - 1)}
      />
      <HistoryLine
        {...{ id, points, last, shown, nameOf }}
        disabled={last === 0}
        onMove={(index) => {
          if (isLive) go(index)
          else dragged.value = index
        }}
        onChoose={go}
        onKeyDown={(event) => {
          if (past === undefined) return
          if (event.key === 'Enter') onEnter()
          else if (event.key === 'Escape') onNow()
          else return
          event.preventDefault()
        }}
      />
      {last > 0 && (
        <span class="muted number">
          {shown + 1} of {last + 1}
        </span>
      )}
      <span class="cut history-name" title={nameOf(shown)}>
        {nameOf(shown)}
      </span>
      <button
        type="button"
        class="button quiet"
        aria-label="Checkpoint"
        title="Name this state of the files"
        disabled={isStill || past !== undefined || session.target.value !== undefined}
        onClick={() => void session.checkpoint(`Checkpoint ${points.filter(({ named }) => named).length + 1}`)}
      >
        <Icon name="flag" /> <span class="wide-word">Checkpoint</span>
      </button>
    </section>
  )
}

interface HistoryLineProps extends Pick<HistoryBarProps, 'id'> {
  readonly points: ProjectSession['session']['history']['value']
  /** The index of the last state. */
  readonly last: number
  readonly shown: number
  readonly disabled: boolean
  readonly nameOf: (index: number) => string
  readonly onMove: (index: number) => void
  readonly onChoose: (index: number) => void
  readonly onKeyDown: (event: KeyboardEvent) => void
}

/** The line with its marks. The slider lies above them. */
function HistoryLine(props: HistoryLineProps) {
  const { id, points, last, shown, disabled, nameOf, onMove, onChoose, onKeyDown } = props
  const pointedAt = ({ currentTarget, clientX }: MouseEvent & { readonly currentTarget: HTMLElement }) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    // The ends of the line are half a thumb inside.
    currentTarget.title = nameOf(Math.round(((clientX - left - 6) / (width - 12)) * last))
  }
  return (
    <span class="history-line">
      {last > 0 && last <= MAX_MARKS && (
        <span class="history-marks" aria-hidden="true">
          {Array.from({ length: last + 1 }, (_, index) => (
            <i
              key={index}
              class={points[index]?.named === true ? 'named' : ''}
              style={{ left: `${(100 * index) / last}%` }}
            />
          ))}
        </span>
      )}
      <input
        {...(id !== undefined && { id })}
        type="range"
        aria-label="State of the files"
        aria-description="Enter goes to the button that restores this state, Escape goes back to now."
        onMouseMove={pointedAt}
        min={0}
        max={Math.max(last, 1)}
        step={1}
        value={last === 0 ? 1 : shown}
        disabled={disabled}
        aria-valuetext={`${shown + 1} of ${last + 1}: ${nameOf(shown)}`}
        onKeyDown={onKeyDown}
        onInput={({ currentTarget }) => onMove(Number(currentTarget.value))}
        onChange={({ currentTarget }) => onChoose(Number(currentTarget.value))}
      />
    </span>
  )
}
