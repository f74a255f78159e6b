import type { Protection } from '../../files/classify/types.ts'
import { protectionWords } from '../../ui/words/verdict-words.ts'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { PolicyProperties } from '../properties.ts'
import styles from './policy.css?inline'

export { styles }

const protections = Object.keys(protectionWords) as Protection[]

/** The policy as JSON, with what is wrong in it, what it leaves open, and the built-in protections. */
export function View({ controller }: PolicyProperties) {
  const { text, isChanged, fault, findings, isApplying, trouble } = useSnapshot(controller)
  return (
    <section class="fill" aria-label="Policy">
      <div class="bar">
        <strong class="grow">Policy</strong>
        {isChanged && <span class="tag changed">not applied</span>}
        <button type="button" class="button quiet" disabled={!isChanged} onClick={controller.reset}>
          Reset
        </button>
        <button
          type="button"
          class="button primary"
          disabled={!isChanged || fault !== undefined || isApplying}
          onClick={() => void controller.apply()}
        >
          Apply
        </button>
      </div>
      <textarea
        class="field mono text"
        aria-label="Policy as JSON"
        aria-invalid={fault !== undefined}
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => controller.edit(currentTarget.value)}
      />
      <div class="pad stack">
        <div role="status">
          {fault !== undefined && <p class="notice bad">{fault}</p>}
          {trouble !== undefined && <p class="notice bad">{trouble}</p>}
          {findings.map(({ rule, message, hint }) => (
            <p key={`${rule} ${message}`} class="notice warn">
              <span class="mono">{rule}</span>: {message} {hint}
            </p>
          ))}
        </div>
        <details>
          <summary>Built-in protections</summary>
          <dl class="facts">
            {protections.map((name) => (
              <div key={name}>
                <dt>{protectionWords[name].name}</dt>
                <dd>{protectionWords[name].why}</dd>
              </div>
            ))}
          </dl>
        </details>
      </div>
    </section>
  )
}
