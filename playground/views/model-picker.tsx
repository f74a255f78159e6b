import { hasKey, lastEndpoint } from '../session/model.ts'
import type { ProjectSession } from '../session/project-session.ts'
import { startScenario } from './app-state.ts'
import { page } from './page-state.ts'

/** Selects the model, and the scenario of the scripted model. */
export function ModelPicker({ projectSession }: { readonly projectSession: ProjectSession }) {
  const { conversation } = projectSession
  const pick = conversation.pick.value
  const scenarios = conversation.scenarios.value
  return (
    <div class="bar">
      <label class="visually-hidden" for="model-kind">
        Model
      </label>
      <select
        id="model-kind"
        value={pick.kind}
        disabled={conversation.isWorking.value}
        onChange={({ currentTarget }) => {
          const kind = currentTarget.value
          if (kind === 'scripted') conversation.pick.value = { kind, scenario: scenarios[0]?.id ?? '' }
          else if (kind === 'builtin') conversation.pick.value = { kind }
          else {
            conversation.pick.value = lastEndpoint()
            page.dialog.value = 'settings'
          }
        }}
      >
        <option value="scripted">Scripted model</option>
        <option value="endpoint">Your own endpoint</option>
        <option value="builtin">The browser’s model</option>
      </select>
      {pick.kind === 'scripted' && (
        <>
          <label class="visually-hidden" for="scenario">
            Scenario
          </label>
          <select
            id="scenario"
            class="grow"
            value={pick.scenario}
            disabled={conversation.isWorking.value}
            onChange={({ currentTarget }) => void startScenario(currentTarget.value)}
          >
            {scenarios.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </>
      )}
      {pick.kind === 'endpoint' && (
        <button
          type="button"
          class="button grow"
          onClick={() => {
            page.dialog.value = 'settings'
          }}
        >
          <span class="cut">{pick.model === '' ? 'Choose a model…' : `${pick.provider}: ${pick.model}`}</span>
          {!hasKey.value && pick.provider !== 'compatible' && <span class="tag warn">no key</span>}
        </button>
      )}
      {pick.kind === 'builtin' && (
        <span class="muted cut grow">
          {'LanguageModel' in globalThis ? 'Runs on this machine' : 'Not available in this browser'}
        </span>
      )}
    </div>
  )
}
