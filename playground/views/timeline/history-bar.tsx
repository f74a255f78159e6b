import { useSignal } from '@preact/signals'
import { joinSentences } from 'wardspace/dialect'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { IconButton } from '../../../src/elements/parts/icon-button.tsx'
import type { ProjectSession } from '../../session/project-session.ts'
import { announce } from '../../ui/announce.tsx'

/** With more states, marks would be a line. */
const MAX_MARKS = 80

/** The history of the files: a line with a mark for each state. The slider restores earlier and later ones. */
export function HistoryBar({ projectSession }: { readonly projectSession: ProjectSession }) {
  const { session } = projectSession
  const points = session.history.value
  const trouble = useSignal<string | undefined>(undefined)
  const dragged = useSignal<number | undefined>(undefined)
  const current = () => session.target.value ?? session.position.value
  const at = points.findIndex(({ id }) => id === current())
  const shown = dragged.value ?? (at === -1 ? points.length : at)
  const last = at === -1 ? points.length : points.length - 1
  const isStill = projectSession.conversation.isWorking.value || !projectSession.writable.value
  const nameOf = (index: number) => points[index]?.label ?? 'Changed since then'

  const go = async (index: number) => {
    const point = session.history.value[index]
    dragged.value = undefined
    if (point === undefined || point.id === current()) return
    const result = await session.moveTo(point.id)
    trouble.value = result.ok ? undefined : joinSentences(result.message, result.hint)
    if (result.ok && session.position.value === point.id) announce(`Restored the files: ${point.label}`)
  }

  return (
    <section class="history-bar" aria-label="History of the files">
      <IconButton
        icon="undo"
        label="One state back"
        title="One state back"
        disabled={isStill || shown <= 0}
        onClick={() => void go(shown - 1)}
      />
      <label class="visually-hidden" for="history">
        State of the files
      </label>
      <HistoryLine
        points={points}
        last={last}
        shown={shown}
        disabled={isStill || last === 0}
        nameOf={nameOf}
        onMove={(index) => {
          dragged.value = index
        }}
        onChoose={(index) => void go(index)}
      />
      {last > 0 && (
        <span class="muted number">
          {shown + 1} of {last + 1}
        </span>
      )}
      <span
        class={`cut history-name ${trouble.value === undefined ? '' : 'bad'}`}
        title={trouble.value ?? nameOf(shown)}
      >
        {trouble.value ?? nameOf(shown)}
      </span>
      <button
        type="button"
        class="button quiet"
        aria-label="Checkpoint"
        title="Name this state of the files"
        disabled={isStill || session.target.value !== undefined}
        onClick={() => void session.checkpoint(`Checkpoint ${points.filter(({ named }) => named).length + 1}`)}
      >
        <Icon name="flag" /> <span class="wide-word">Checkpoint</span>
      </button>
    </section>
  )
}

interface HistoryLineProps {
  readonly points: ProjectSession['session']['history']['value']
  /** The index of the last state. */
  readonly last: number
  readonly shown: number
  readonly disabled: boolean
  readonly nameOf: (index: number) => string
  readonly onMove: (index: number) => void
  readonly onChoose: (index: number) => void
}

/** The line with its marks. The slider lies above them. */
function HistoryLine({ points, last, shown, disabled, nameOf, onMove, onChoose }: HistoryLineProps) {
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
        id="history"
        type="range"
        onMouseMove={pointedAt}
        min={0}
        max={Math.max(last, 1)}
        step={1}
        value={last === 0 ? 1 : shown}
        disabled={disabled}
        aria-valuetext={`${shown + 1} of ${last + 1}: ${nameOf(shown)}`}
        onInput={({ currentTarget }) => onMove(Number(currentTarget.value))}
        onChange={({ currentTarget }) => onChoose(Number(currentTarget.value))}
      />
    </span>
  )
}
