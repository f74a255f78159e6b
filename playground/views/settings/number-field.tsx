import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { type NumberKind, numberText, parseNumber } from '../../session/number-text.ts'

export interface NumberFieldProps extends Partial<NumberKind> {
  readonly id: string
  readonly label: string
  readonly value: number | undefined
  readonly placeholder?: string
  readonly onNumber: (value: number) => void
  /** Called when the field is emptied. Without it, an empty field is wrong. */
  readonly onEmpty?: () => void
}

/** A field for a number, with its label. Marks a text that is not a number, and keeps the previous number until it is corrected. */
export function NumberField({ id, label, value, placeholder, onNumber, onEmpty, min = 0, ...kind }: NumberFieldProps) {
  const [typed, setTyped] = useState<string | undefined>(undefined)
  /** The number before the person has changed it. */
  const before = useRef(value)
  const set = (number: number | undefined) => {
    if (number === undefined) onEmpty?.()
    else onNumber(number)
  }
  const check = (text: string): { readonly number?: number; readonly wrong?: string } =>
    text.trim() === '' && onEmpty !== undefined ? {} : parseNumber(text, { min, ...kind })
  const wrong = typed === undefined ? undefined : check(typed).wrong
  const text = typed ?? (value === undefined ? '' : numberText(value))
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
        aria-invalid={wrong !== undefined}
        aria-describedby={wrong === undefined ? undefined : `${id}-wrong`}
        onInput={({ currentTarget }) => {
          if (typed === undefined) before.current = value
          setTyped(currentTarget.value)
          const next = check(currentTarget.value)
          set(next.wrong === undefined ? next.number : before.current)
        }}
        onBlur={() => {
          if (wrong === undefined) setTyped(undefined)
        }}
      />
      {wrong !== undefined && (
        <FieldFault id={`${id}-wrong`}>
          {wrong}{' '}
          {before.current === undefined ? 'There is still no limit.' : `It is still ${numberText(before.current)}.`}
        </FieldFault>
      )}
    </>
  )
}

/** Says what is wrong in the field above. */
export function FieldFault({ id, children }: { readonly id: string; readonly children: ComponentChildren }) {
  return (
    <p id={id} class="field-fault small form-row" role="alert">
      {children}
    </p>
  )
}
