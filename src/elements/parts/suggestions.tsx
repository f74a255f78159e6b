import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { usePlacement } from './select.tsx'

export interface Suggestion {
  /** Identifies it. */
  readonly value: string
  /** The accessible name. */
  readonly label: string
  readonly content: ComponentChildren
}

export interface SuggestionsOptions {
  /** The accessible name of the list. */
  readonly label: string
  readonly suggestions: readonly Suggestion[]
  /** Whether the list is wanted. It is shown if it has suggestions. */
  readonly isOpen: boolean
  readonly field: RefObject<HTMLElement | null>
  readonly onChoose: (value: string) => void
  readonly onClose: () => void
}

/** A list of suggestions for a field that keeps the focus. */
export interface ShownSuggestions {
  /** Attributes of the field. */
  readonly fieldProps: Readonly<Record<string, string | boolean | undefined>>
  /** Moves in the list, chooses and closes. Returns false for a key that is for the field. */
  readonly onKeyDown: (event: KeyboardEvent) => boolean
  readonly list: ComponentChildren
}

export function useSuggestions(options: SuggestionsOptions): ShownSuggestions {
  const { label, suggestions, field, onChoose, onClose } = options
  const [active, setActive] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const name = useId()
  const isShown = options.isOpen && suggestions.length > 0
  const at = Math.min(active, suggestions.length - 1)
  usePlacement(isShown, field, list, onClose)
  useEffect(() => {
    if (isShown) list.current?.children[at]?.scrollIntoView({ block: 'nearest' })
  }, [isShown, at])
  useEffect(() => setActive(0), [isShown, suggestions[0]?.value])

  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!isShown || event.isComposing) return false
    const { key } = event
    const chosen = suggestions[at]
    if (key === 'ArrowDown') setActive((at + 1) % suggestions.length)
    else if (key === 'ArrowUp') setActive((at + suggestions.length - 1) % suggestions.length)
    else if ((key === 'Enter' || key === 'Tab') && !event.shiftKey && chosen !== undefined) onChoose(chosen.value)
    else if (key === 'Escape') onClose()
    else return false
    // A dialog around the list stays open, and Enter sends nothing.
    event.stopPropagation()
    event.preventDefault()
    return true
  }
  return {
    fieldProps: {
      role: 'combobox',
      'aria-autocomplete': 'list',
      'aria-expanded': isShown,
      'aria-controls': isShown ? name : undefined,
      'aria-activedescendant': isShown ? `${name}-${at}` : undefined,
    },
    onKeyDown,
    list: isShown && (
      <div ref={list} id={name} class="options" role="listbox" aria-label={label} popover="manual">
        {suggestions.map(({ value, label: text, content }, index) => (
          <button
            key={value}
            type="button"
            id={`${name}-${index}`}
            role="option"
            tabIndex={-1}
            aria-label={text}
            aria-selected={index === at}
            data-active={index === at ? '' : undefined}
            data-value={value}
            // The field keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onChoose(value)}
          >
            {content}
          </button>
        ))}
      </div>
    ),
  }
}
