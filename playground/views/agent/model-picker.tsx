import { Select } from '../../../src/elements/parts/select.tsx'
import { scenarioTitles } from '../../agent/scenario-titles.ts'
import { lacksKey, lastEndpoint } from '../../session/model.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { BrowserModel } from './browser-model.tsx'

export interface ModelPickerProps {
  readonly conversation: ProjectSession['conversation']
  readonly onScenario: (id: string) => void
  /** The person chose a model that needs settings. */
  readonly onSettings: () => void
}

const kinds = [
  { value: 'scripted', label: 'Scripted model' },
  { value: 'endpoint', label: 'My own model' },
  { value: 'builtin', label: 'The browser’s model' },
] as const

/** Selects the model, and the scenario of the scripted model. */
export function ModelPicker({ conversation, onScenario, onSettings }: ModelPickerProps) {
  const pick = conversation.pick.value
  const scenarios = conversation.scenarios.value
  const isWorking = conversation.isWorking.value
  return (
    <div slot="composer" class="row model-picker">
      <Select
        label="Model"
        class="quiet"
        value={pick.kind}
        options={kinds}
        disabled={isWorking}
        onChange={(kind) => {
          if (kind === 'scripted') conversation.pick.value = { kind, scenario: scenarios[0]?.id ?? '' }
          else if (kind === 'builtin') conversation.pick.value = { kind }
          else {
            conversation.pick.value = lastEndpoint()
            onSettings()
          }
        }}
      />
      {pick.kind === 'scripted' && (
        <Select
          label="Scenario"
          class="quiet"
          value={pick.scenario}
          options={scenarios.map(({ id }) => ({ value: id, label: scenarioTitles[id] }))}
          disabled={isWorking}
          onChange={onScenario}
        />
      )}
      {pick.kind === 'endpoint' && (
        <button type="button" class="button quiet" onClick={onSettings}>
          <span class="cut">{pick.model === '' ? 'Choose a model…' : pick.model}</span>
          {lacksKey(pick) && <span class="tag warn">no key</span>}
        </button>
      )}
      {pick.kind === 'builtin' && <BrowserModel isWorking={isWorking} />}
    </div>
  )
}
