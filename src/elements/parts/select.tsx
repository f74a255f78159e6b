import type { RefObject } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface Option<V extends string = string> {
  readonly value: V
  readonly label: string
}

export interface SelectProps<V extends string> {
  readonly id?: string
  /** The accessible name. */
  readonly label: string
  readonly options: readonly Option<V>[]
  readonly value: V | undefined
  /** Shown while no option has the value. */
  readonly placeholder?: string
  readonly disabled?: boolean
  readonly class?: string
  readonly onChange: (value: V) => void
}

/** Milliseconds after which typed letters begin a new search. */
const TYPING_PAUSE = 600

/** A choice of one option. The button keeps the focus, and the keys move in its list as in a native select. */
export function Select<V extends string>(props: SelectProps<V>) {
  const { id, label, options, value, placeholder = '', disabled = false, class: kind = '', onChange } = props
  const [active, setActive] = useState<number | undefined>(undefined)
  const isOpen = active !== undefined
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const name = useId()
  const chosen = options.findIndex((option) => option.value === value)
  const close = () => setActive(undefined)
  const choose = (at: number) => {
    const option = options[at]
    close()
    if (option !== undefined && option.value !== value) onChange(option.value)
  }
  usePlacement(isOpen, button, list, close)
  useEffect(() => {
    if (active !== undefined) list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
  }, [active])

  const search = useTyping(options)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const at = active ?? Math.max(0, chosen)
    const { key } = event
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: isOpen ? at + 1 : at,
      ArrowUp: isOpen ? at - 1 : at,
      Home: 0,
      End: options.length - 1,
    }
    const move = moves[key] ?? (key.length === 1 && key !== ' ' ? search(key) : undefined)
    if (move !== undefined) setActive(Math.min(options.length - 1, Math.max(0, move)))
    else if (key === 'Enter' || key === ' ') isOpen ? choose(at) : setActive(at)
    else if (key === 'Escape' && isOpen) {
      // A dialog around the list stays open.
      event.stopPropagation()
      close()
    } else {
      if (key === 'Tab') close()
      return
    }
    event.preventDefault()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        id={id}
        class={`select ${kind}`}
        role="combobox"
        aria-label={label}
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        aria-controls={isOpen ? name : undefined}
        aria-activedescendant={isOpen ? `${name}-${active}` : undefined}
        data-value={value}
        disabled={disabled}
        onClick={() => (isOpen ? close() : setActive(Math.max(0, chosen)))}
        onKeyDown={onKeyDown}
        onBlur={close}
      >
        <span class="cut grow">{options[chosen]?.label ?? placeholder}</span>
        <Icon name="chevron" />
      </button>
      {active !== undefined && (
        <Options
          list={list}
          name={name}
          label={label}
          options={options}
          chosen={chosen}
          active={active}
          onChoose={choose}
        />
      )}
    </>
  )
}

/** Returns a function that finds the option that begins with the letters typed so far. */
function useTyping(options: readonly Option[]): (key: string) => number | undefined {
  const typed = useRef({ text: '', at: 0 })
  return (key) => {
    const now = Date.now()
    const text = (now - typed.current.at > TYPING_PAUSE ? '' : typed.current.text) + key.toLowerCase()
    typed.current = { text, at: now }
    const at = options.findIndex((option) => option.label.toLowerCase().startsWith(text))
    return at === -1 ? undefined : at
  }
}

interface OptionsProps {
  readonly list: RefObject<HTMLDivElement | null>
  /** Prefix of the ids. */
  readonly name: string
  readonly label: string
  readonly options: readonly Option[]
  readonly chosen: number
  readonly active: number
  readonly onChoose: (at: number) => void
}

function Options({ list, name, label, options, chosen, active, onChoose }: OptionsProps) {
  return (
    <div ref={list} id={name} class="options" role="listbox" aria-label={label} popover="manual">
      {options.map((option, at) => (
        <button
          type="button"
          tabIndex={-1}
          key={option.value}
          id={`${name}-${at}`}
          role="option"
          aria-selected={at === chosen}
          data-value={option.value}
          data-active={at === active ? '' : undefined}
          // The button keeps the focus.
          onPointerDown={(event) => event.preventDefault()}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(at)}
        >
          <Icon name="check" />
          {option.label}
        </button>
      ))}
    </div>
  )
}

/** Space between the button, its list and the edge of the window. */
const GAP = 4

/** Places the list below its button, or above it where there is more space. */
export function usePlacement(
  isOpen: boolean,
  button: RefObject<HTMLElement | null>,
  list: RefObject<HTMLElement | null>,
  close: () => void,
): void {
  useLayoutEffect(() => {
    const popup = list.current
    if (!isOpen || button.current === null || popup === null) return
    popup.showPopover()
    const { left, top, bottom, width } = button.current.getBoundingClientRect()
    const below = innerHeight - bottom - 2 * GAP
    const isAbove = below < Math.min(popup.scrollHeight, 200) && top > below
    popup.style.minWidth = `${width}px`
    popup.style.maxHeight = `${Math.min(isAbove ? top - 2 * GAP : below, 420)}px`
    popup.style.left = `${Math.max(GAP, Math.min(left, innerWidth - popup.offsetWidth - 2 * GAP))}px`
    // A list above the field grows upwards when its options change.
    popup.style.top = isAbove ? 'auto' : `${bottom + GAP}px`
    popup.style.bottom = isAbove ? `${innerHeight - top + GAP}px` : 'auto'
    addEventListener('resize', close)
    return () => removeEventListener('resize', close)
  }, [isOpen])
}
