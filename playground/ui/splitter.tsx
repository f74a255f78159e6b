import { useRef } from 'preact/hooks'

export interface SplitterProps {
  readonly label: string
  /** Direction of the line. */
  readonly orientation: 'vertical' | 'horizontal'
  /** Size, in pixels, of the pane that the line resizes. */
  readonly size: number
  readonly min: number
  readonly max: number
  /** Whether that pane comes after the line, so that dragging towards the end makes it smaller. */
  readonly isAfter?: boolean
  readonly onSize: (size: number) => void
}

const STEP = 16

/** A line between two panes that can be dragged or moved with the arrow keys. */
export function Splitter({ label, orientation, size, min, max, isAfter = false, onSize }: SplitterProps) {
  const start = useRef<{ at: number; size: number } | undefined>(undefined)
  const sign = isAfter ? -1 : 1
  const at = (event: PointerEvent) => (orientation === 'vertical' ? event.clientX : event.clientY)
  const set = (next: number) => onSize(Math.round(Math.min(max, Math.max(min, next))))
  return (
    // biome-ignore lint/a11y/useSemanticElements: a splitter has a value, which an hr element cannot have
    <div
      class="splitter"
      role="separator"
      aria-label={label}
      aria-orientation={orientation}
      aria-valuenow={size}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        start.current = { at: at(event), size }
      }}
      onPointerMove={(event) => {
        if (start.current !== undefined) set(start.current.size + sign * (at(event) - start.current.at))
      }}
      onPointerUp={() => {
        start.current = undefined
      }}
      onKeyDown={(event) => {
        const more = event.key === 'ArrowRight' || event.key === 'ArrowDown'
        const less = event.key === 'ArrowLeft' || event.key === 'ArrowUp'
        if (!more && !less) return
        event.preventDefault()
        set(size + sign * (more ? STEP : -STEP))
      }}
    />
  )
}
