import type { Signal } from '@preact/signals'
import type { AgentSettings } from '../../session/agent-settings.ts'
import { NumberField } from './number-field.tsx'

/** What the person wants of every answer, and when the agent has to stop. */
export function AgentSettingsView({ settings }: { readonly settings: Signal<AgentSettings> }) {
  const { instructions, followsProject, maxSteps, maxTokens, maxCost } = settings.value
  const change = (fields: Partial<AgentSettings>) => {
    settings.value = { ...settings.value, ...fields }
  }
  const without = (name: 'maxTokens' | 'maxCost') => {
    const { [name]: _, ...others } = settings.value
    settings.value = others
  }
  return (
    <section class="stack">
      <h3>Agent</h3>
      <label for="instructions">Instructions for every conversation</label>
      <textarea
        id="instructions"
        class="field"
        rows={3}
        placeholder="Such as: answer in German; run the tests after each change"
        value={instructions}
        onInput={({ currentTarget }) => change({ instructions: currentTarget.value })}
      />
      <label class="row">
        <input
          type="checkbox"
          checked={followsProject}
          onChange={({ currentTarget }) => change({ followsProject: currentTarget.checked })}
        />
        <span>
          Follow <code>AGENTS.md</code> of the project
        </span>
      </label>
      <div class="form wide">
        <NumberField
          id="max-steps"
          label="Steps of one turn, at most"
          value={maxSteps}
          min={1}
          isWhole
          onNumber={(steps) => change({ maxSteps: steps })}
        />
        <NumberField
          id="max-tokens"
          label="Tokens of one conversation, at most"
          value={maxTokens}
          min={1}
          isWhole
          placeholder="no limit"
          onNumber={(tokens) => change({ maxTokens: tokens })}
          onEmpty={() => without('maxTokens')}
        />
        <NumberField
          id="max-cost"
          label="Dollars of one conversation, at most"
          value={maxCost}
          isMoney
          placeholder="no limit"
          onNumber={(cost) => change({ maxCost: cost })}
          onEmpty={() => without('maxCost')}
        />
      </div>
      <p class="muted">
        The agent stops before a step that would exceed one of them, and says so. Dollars count with the prices of the
        model, which its server names or you enter above.
      </p>
    </section>
  )
}
