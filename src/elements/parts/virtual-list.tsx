import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface VirtualListProps {
  readonly label: string
  readonly count: number
  /** Pixels. */
  readonly rowHeight: number
  /** The row that the keyboard selects, or -1. */
  readonly active: number
  readonly onActive: (row: number) => void
  /** Enter, or a click. */
  readonly onOpen: (row: number) => void
  /** Handles keys that the list does not use. Returns true for handled keys. */
  readonly onKey?: (event: KeyboardEvent, row: number) => boolean
  /** Handles keys pressed with Ctrl, Meta or Alt. Returns true for handled keys. */
  readonly onModifiedKey?: (event: KeyboardEvent, row: number) => boolean
  readonly role?: 'listbox' | 'tree'
  readonly name: string
  /** Attributes of a row's element, such as `aria-level`. */
  readonly attributes?: (row: number) => Readonly<Record<string, unknown>>
  /** Further attributes and handlers of the list itself. */
  readonly listAttributes?: Readonly<Record<string, unknown>>
  readonly row: (row: number) => ComponentChildren
  /** Keeps the end of the list visible while it is scrolled to the end. */
  readonly follow?: boolean
}

/** Rows rendered beyond the visible ones, on both sides. */
const OVERSCAN = 5

/** A list of any length that renders only its visible rows. The focus stays on the list itself. */
export function VirtualList(props: VirtualListProps) {
  const { label, count, rowHeight, active, onActive, onOpen, onKey, onModifiedKey } = props
  const { role = 'listbox', name, attributes, row, listAttributes } = props
  const { element, top, height, onScroll } = useScroll(props)

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if (onModifiedKey?.(event, active) === true) event.preventDefault()
      return
    }
    const move = rowOfKey(event.key, props, height)
    if (move !== undefined && count > 0) onActive(Math.min(count - 1, Math.max(0, move)))
    else if (event.key === 'Enter' && active >= 0) onOpen(active)
    else if (onKey?.(event, active) !== true) return
    event.preventDefault()
  }

  const onClick = ({ target }: MouseEvent) => {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null
    if (row === null) return
    onActive(Number(row.dataset.row))
    onOpen(Number(row.dataset.row))
  }

  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN)
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + OVERSCAN)
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at)
  const isShown = active >= first && active < last
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the rule does not see roles that are expressions
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: `role` is `tree` or `listbox`, and both support these attributes
    <div
      class="virtual"
      ref={element}
      role={role}
      aria-label={label}
      aria-activedescendant={isShown ? `${name}-${active}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onFocus={() => active < 0 && count > 0 && onActive(0)}
      onScroll={onScroll}
      {...listAttributes}
    >
      <div style={{ height: `${count * rowHeight}px` }} role="presentation">
        {rows.map((at) => (
          // biome-ignore lint/a11y/useAriaPropsSupportedByRole: `treeitem` and `option` support these attributes
          <div
            // Reuses the element that scrolls out for the row that scrolls in.
            key={at % rows.length}
            id={`${name}-${at}`}
            data-row={at}
            data-active={at === active ? '' : undefined}
            role={role === 'tree' ? 'treeitem' : 'option'}
            aria-selected={at === active}
            aria-setsize={role === 'tree' ? undefined : count}
            aria-posinset={role === 'tree' ? undefined : at + 1}
            style={{ top: `${at * rowHeight}px`, height: `${rowHeight}px` }}
            {...attributes?.(at)}
          >
            {row(at)}
          </div>
        ))}
      </div>
    </div>
  )
}

/** Tracks the visible part of the list. Keeps the active row visible, and the end if the list follows it. */
function useScroll({ count, rowHeight, active, follow }: VirtualListProps) {
  const element = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(600)

  useLayoutEffect(() => {
    const list = element.current
    if (list === null) return
    const observer = new ResizeObserver(() => setHeight(list.clientHeight))
    observer.observe(list)
    setHeight(list.clientHeight)
    return () => observer.disconnect()
  }, [])

  const wasAtEnd = useRef(true)
  useEffect(() => {
    const list = element.current
    if (follow && wasAtEnd.current && list !== null) list.scrollTop = count * rowHeight
  }, [count])

  useLayoutEffect(() => {
    const list = element.current
    if (list === null || active < 0) return
    const from = active * rowHeight
    if (from < list.scrollTop) list.scrollTop = from
    else if (from + rowHeight > list.scrollTop + list.clientHeight)
      list.scrollTop = from + rowHeight - list.clientHeight
  }, [active])

  const onScroll = ({ currentTarget: list }: { readonly currentTarget: HTMLDivElement }) => {
    wasAtEnd.current = list.scrollTop + list.clientHeight >= list.scrollHeight - rowHeight
    setTop(list.scrollTop)
  }
  return { element, top, height, onScroll }
}

/** Returns the row that a key moves to, which may be outside the list. */
function rowOfKey(key: string, { active, count, rowHeight }: VirtualListProps, height: number): number | undefined {
  const page = Math.max(1, Math.floor(height / rowHeight) - 1)
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + page,
    PageUp: active - page,
    Home: 0,
    End: count - 1,
  }
  return moves[key]
}
