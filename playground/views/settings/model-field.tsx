import { useRef, useState } from 'preact/hooks'
import { useSuggestions } from '../../../src/elements/parts/suggestions.tsx'
import type { ListedModel } from '../../agent/list-models.ts'
import type { ModelSetup } from '../../session/model-setup.ts'

/** Models that are shown at once. A person types on before reading more. */
const MAX_SHOWN = 60

/** The name of the model, with the models that the server lists. */
export function ModelField({ setup, model }: { readonly setup: ModelSetup; readonly model: string }) {
  const field = useRef<HTMLInputElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  const [isFiltered, setIsFiltered] = useState(false)
  const words = model.toLowerCase().split(/\s+/)
  const matches = setup.models.value.filter(({ id, title = '' }) => {
    const text = `${id} ${title}`.toLowerCase()
    return !isFiltered || words.every((word) => text.includes(word))
  })
  const { fieldProps, onKeyDown, list } = useSuggestions({
    label: 'Models of the server',
    isOpen,
    field,
    suggestions: matches
      .slice(0, MAX_SHOWN)
      .map((listed) => ({ value: listed.id, label: listed.id, content: <ModelFactsLine listed={listed} /> })),
    onChoose(id) {
      setup.chooseModel(id)
      setIsOpen(false)
    },
    onClose: () => setIsOpen(false),
  })
  const listModels = async () => {
    field.current?.focus()
    await setup.list()
    setIsFiltered(false)
    setIsOpen(true)
  }
  const isBusy = setup.listing.value.kind === 'busy'
  return (
    <div class="row">
      <input
        ref={field}
        id="model"
        class="field mono grow"
        placeholder="its name at the server"
        autocomplete="off"
        spellcheck={false}
        value={model}
        {...fieldProps}
        onInput={({ currentTarget }) => {
          setup.chooseModel(currentTarget.value.trim())
          setIsFiltered(true)
          setIsOpen(true)
        }}
        onKeyDown={(event) => {
          if (onKeyDown(event) || event.key !== 'ArrowDown' || setup.models.value.length === 0) return
          event.preventDefault()
          setIsFiltered(false)
          setIsOpen(true)
        }}
        onBlur={() => setIsOpen(false)}
      />
      <button type="button" class="button" disabled={isBusy} onClick={() => void listModels()}>
        {isBusy ? 'Asking…' : 'List models'}
      </button>
      {list}
    </div>
  )
}

function ModelFactsLine({ listed: { id, title, contextTokens, prices } }: { readonly listed: ListedModel }) {
  const facts = [
    ...(contextTokens === undefined ? [] : [`${Math.round(contextTokens / 1_000)}k`]),
    ...(prices === undefined
      ? []
      : [prices.read + prices.written === 0 ? 'free' : `$${prices.read} / $${prices.written}`]),
  ]
  return (
    <>
      <span class="grow cut mono">{id}</span>
      <span class="muted small number">{facts.length > 0 ? facts.join(' · ') : title}</span>
    </>
  )
}
