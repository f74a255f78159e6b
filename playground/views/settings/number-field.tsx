import { useState } from 'preact/hooks'

export interface NumberFieldProps {
  readonly id: string
  readonly label: string
  readonly value: number | undefined
  readonly min?: number
  readonly placeholder?: string
  readonly onNumber: (value: number) => void
  /** Called when the field is emptied. Without it, an empty field changes nothing. */
  readonly onEmpty?: () => void
}

/** A field for a number, with its label. A text that is not a number is marked and changes nothing. */
export function NumberField({ id, label, value, min = 0, placeholder, onNumber, onEmpty }: NumberFieldProps) {
  const [typed, setTyped] = useState<string | undefined>(undefined)
  const text = typed ?? (value === undefined ? '' : String(value))
  const number = Number(text.replaceAll(/[\s,_]/g, ''))
  const isWrong = text.trim() === '' ? onEmpty === undefined : !(number >= min)
  return (
    <>
      <label for={id}>{label}</label>
      <input
        id={id}
        class="field number"
        inputMode="decimal"
        autocomplete="off"
        placeholder={placeholder}
        value={text}
        aria-invalid={isWrong}
        onInput={({ currentTarget }) => {
          const changed = currentTarget.value
          setTyped(changed)
          const next = Number(changed.replaceAll(/[\s,_]/g, ''))
          if (changed.trim() === '') onEmpty?.()
          else if (next >= min) onNumber(next)
        }}
        onBlur={() => setTyped(undefined)}
      />
    </>
  )
}
