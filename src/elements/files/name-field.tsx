import { useLayoutEffect, useRef } from 'preact/hooks'

export interface NameFieldProps {
  readonly label: string
  /** The present name; empty for a new entry. */
  readonly name: string
  readonly text: string
  readonly onText: (text: string) => void
  /** Called with the entered name, or undefined if the person gives up, and whether the field still had the focus. */
  readonly onDone: (name: string | undefined, hadFocus: boolean) => void
}

/** Returns what is wrong with a name, or undefined when it can be used. A name with `/` is in a directory below. */
export function problemOfName(name: string): string | undefined {
  if (name.trim() === '') return 'Enter a name'
  const parts = name.split('/')
  if (parts.some((part) => part === '.' || part === '..')) return '“.” and “..” are not names'
  return parts.some((part) => part === '') ? 'A name cannot begin or end with “/”' : undefined
}

/**
 * The field in which an entry of the tree is named. Enter accepts, Escape gives up. The list may draw its rows again while
 * the person types, so the text is kept outside and a new field takes the focus.
 */
export function NameField({ label, name, text, onText, onDone }: NameFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const isDone = useRef(false)
  const problem = problemOfName(text)
  const done = (entered: string | undefined, hadFocus: boolean) => {
    if (isDone.current) return
    isDone.current = true
    onDone(entered, hadFocus)
  }
  useLayoutEffect(() => {
    const dot = name.lastIndexOf('.')
    field.current?.focus()
    // The extension usually stays.
    if (text === name) field.current?.setSelectionRange(0, dot > 0 ? dot : name.length)
    return () => {
      // A field that is removed loses the focus without the person's doing.
      isDone.current = true
    }
  }, [])
  return (
    <input
      ref={field}
      class="name-field grow"
      aria-label={label}
      aria-invalid={text !== '' && problem !== undefined}
      title={text === '' ? undefined : problem}
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => onText(currentTarget.value)}
      onClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => {
        // The tree around the field has keys of its own.
        event.stopPropagation()
        const entered = event.currentTarget.value
        if (event.key !== 'Escape' && event.key !== 'Enter') return
        // The same press must not reach a button that gets the focus.
        event.preventDefault()
        if (event.key === 'Escape') done(undefined, true)
        else if (problemOfName(entered) === undefined) done(entered, true)
      }}
      onBlur={({ currentTarget: { value } }) => done(problemOfName(value) === undefined ? value : undefined, false)}
    />
  )
}
