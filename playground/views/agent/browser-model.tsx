import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { BuiltinState } from '../../agent/builtin.ts'

const loadBuiltin = () => import('../../agent/builtin.ts')

/** Says whether the browser's own model can be used, and lets the browser download it. */
export function BrowserModel({ isWorking }: { readonly isWorking: boolean }) {
  const state = useSignal<BuiltinState | undefined>(undefined)
  /** The downloaded part, while it is downloaded here. */
  const part = useSignal<number | undefined>(undefined)
  const trouble = useSignal('')
  const look = async () => {
    state.value = await (await loadBuiltin()).builtinState()
  }
  // The agent's first message lets the browser download it too.
  useEffect(() => void look(), [isWorking])
  const download = async () => {
    const { downloadBuiltin } = await loadBuiltin()
    const api = state.value?.api
    if (api === undefined) return
    part.value = 0
    trouble.value = ''
    try {
      await downloadBuiltin(api, (loaded) => {
        part.value = loaded
      })
    } catch (error) {
      trouble.value = `The browser could not download it: ${error instanceof Error ? error.message : String(error)}`
    }
    part.value = undefined
    await look()
  }
  const { says = '', availability } = state.value ?? {}
  return (
    <div class="row wrap grow browser-model">
      {part.value === undefined ? (
        <span role="status" class="muted small grow">
          {trouble.value || says}
        </span>
      ) : (
        <>
          <progress aria-label="Download of the browser’s model" max={1} value={part.value} />
          <span class="muted small number">{Math.round(part.value * 100)} % downloaded</span>
        </>
      )}
      {availability === 'downloadable' && part.value === undefined && (
        <button type="button" class="button" disabled={isWorking} onClick={() => void download()}>
          Download
        </button>
      )}
    </div>
  )
}
