import { Fragment } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { focusedElement, restoreFocus } from './focusable.ts'
import { Icon, type IconName } from './icon.tsx'
import { isTouch } from './touch.ts'

/** One entry of a menu. */
export interface MenuItem {
  readonly label: string
  readonly icon?: IconName
  /** The keys that do the same, for display. */
  readonly keys?: string
  readonly disabled?: boolean
  /** Marks an entry that deletes something. */
  readonly isDanger?: boolean
  /** Set for an entry that is switched on or off. */
  readonly isChecked?: boolean
  /** Whether a line separates the entry from the one before. */
  readonly startsGroup?: boolean
  readonly onSelect: () => void
}

/** Where a menu opens: at a point of the window, or below an element. */
export type MenuPlace = { readonly x: number; readonly y: number } | HTMLElement

export interface MenuProps {
  /** The accessible name. */
  readonly label: string
  readonly items: readonly MenuItem[]
  readonly place: MenuPlace
  readonly onClose: () => void
}

/** Space between the menu and the edge of the window, and below the element. */
const GAP = 4

/** An open menu. It takes the focus and gives it back, and moves by arrow keys and first letters. */
export function Menu({ label, items, place, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null)
  usePopup(menu, place, onClose)

  const focusItem = (step: (at: number, count: number) => number) => {
    const all = [...(menu.current?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])]
    const at = all.indexOf(focusedElement() as HTMLElement)
    all.at(step(at, all.length) % all.length)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // The page and a list around the menu have keys of their own.
    event.stopPropagation()
    const { key } = event
    if (key === 'ArrowDown') focusItem((at) => at + 1)
    else if (key === 'ArrowUp') focusItem((at, count) => (at <= 0 ? count - 1 : at - 1))
    else if (key === 'Home') focusItem(() => 0)
    else if (key === 'End') focusItem((_, count) => count - 1)
    else if (key === 'Escape' || key === 'Tab') onClose()
    else if (key.length === 1 && key !== ' ') {
      focusItem((at, count) => {
        const begins = (one: number) => items[one % count]?.label.toLowerCase().startsWith(key.toLowerCase())
        for (let next = at + 1; next <= at + count; next++) if (begins(next)) return next
        return Math.max(0, at)
      })
    } else return
    event.preventDefault()
  }
  return (
    <div ref={menu} class="options menu" role="menu" aria-label={label} popover="manual" onKeyDown={onKeyDown}>
      {items.map((item, index) => (
        // Two entries may have the same label, such as the titles of two conversations.
        <Fragment key={`${index} ${item.label}`}>
          {item.startsGroup === true && <hr />}
          <button
            type="button"
            class={item.isDanger === true ? 'danger' : ''}
            {...(item.isChecked === undefined
              ? { role: 'menuitem' }
              : { role: 'menuitemcheckbox', 'aria-checked': item.isChecked })}
            aria-label={item.label}
            aria-disabled={item.disabled === true}
            tabIndex={-1}
            onClick={(event) => {
              event.stopPropagation()
              if (item.disabled === true) return
              onClose()
              item.onSelect()
            }}
          >
            {item.isChecked === undefined ? item.icon && <Icon name={item.icon} /> : <Icon name="check" />}
            <span class="grow cut">{item.label}</span>
            {item.keys !== undefined && <kbd data-text={item.keys} />}
          </button>
        </Fragment>
      ))}
    </div>
  )
}

export interface MenuButtonProps {
  readonly icon: IconName
  /** The accessible name of the button and of its menu. */
  readonly label: string
  readonly items: readonly MenuItem[]
  /** Takes the button out of the tab order, where a list around it opens the same menu by keys. */
  readonly isInList?: boolean
}

/** A button that opens a menu. */
export function MenuButton({ icon, label, items, isInList = false }: MenuButtonProps) {
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <button
        ref={button}
        type="button"
        class="button quiet icon menu-button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        title={label}
        tabIndex={isInList ? -1 : undefined}
        // The name of a row is its content. Without a touch screen, keys of the list open the menu.
        aria-hidden={isInList && !isTouch()}
        onClick={(event) => {
          event.stopPropagation()
          setIsOpen(!isOpen)
        }}
      >
        <Icon name={icon} />
      </button>
      {isOpen && button.current !== null && (
        <Menu label={label} items={items} place={button.current} onClose={() => setIsOpen(false)} />
      )}
    </>
  )
}

/** Shows the menu above everything at its place, focuses it, and closes it when the person presses elsewhere. */
function usePopup(menu: { readonly current: HTMLElement | null }, place: MenuPlace, onClose: () => void): void {
  const close = useRef(onClose)
  close.current = onClose
  useLayoutEffect(() => {
    const popup = menu.current
    if (popup === null) return
    popup.showPopover()
    const box = place instanceof HTMLElement ? place.getBoundingClientRect() : new DOMRect(place.x, place.y, 0, 0)
    const below = innerHeight - box.bottom - 2 * GAP
    const isAbove = below < popup.scrollHeight && box.top > below
    popup.style.maxHeight = `${isAbove ? box.top - 2 * GAP : below}px`
    popup.style.left = `${Math.max(GAP, Math.min(box.left, innerWidth - popup.offsetWidth - 2 * GAP))}px`
    popup.style.top = `${isAbove ? box.top - popup.offsetHeight - GAP : box.bottom + GAP}px`
    const before = focusedElement()
    popup.querySelector<HTMLElement>('[role^="menuitem"]')?.focus()
    const onPress = (event: Event) => {
      const pressed = event.composedPath()
      const isButton = place instanceof HTMLElement && pressed.includes(place)
      if (!pressed.includes(popup) && !isButton) close.current()
    }
    const onResize = () => close.current()
    addEventListener('pointerdown', onPress, true)
    addEventListener('resize', onResize)
    return () => {
      removeEventListener('pointerdown', onPress, true)
      removeEventListener('resize', onResize)
      restoreFocus(before, popup)
    }
  }, [])
}
