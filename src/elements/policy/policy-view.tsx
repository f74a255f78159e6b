import { presetNames } from '../../policy/presets.ts'
import type { PolicyEditor, PolicyEditorSnapshot } from '../../ui/policy-editor.ts'
import { Select } from '../parts/select.tsx'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { PolicyProperties } from '../properties.ts'
import styles from './policy.css?inline'
import { PolicyEffects, PolicyVerdict } from './policy-questions.tsx'
import { PolicyRowsView } from './policy-rows-view.tsx'

export { styles }

/**
 * The policy as rows and as text, with its mistakes at their place. Where the controller can try policies, also the effect on the files,
 * and the verdict on a sample call.
 */
export function View({ controller, disabled = false, revision, ownText = false }: PolicyProperties) {
  const snapshot = useSnapshot(controller)
  const { text, read, fault, findings, trouble, isChanged } = snapshot
  return (
    <section class="fill" aria-label="Policy">
      <PolicyBar controller={controller} snapshot={snapshot} disabled={disabled} />
      <div role="status">
        {trouble !== undefined && <p class="notice bad">{trouble}</p>}
        {fault !== undefined && <p class="notice bad">{fault}</p>}
        {findings.map(({ rule, message, hint }) => (
          <p key={`${rule} ${message}`} class="notice warn">
            <span class="mono">{rule}</span>: {message} {hint}
          </p>
        ))}
      </div>
      <div class="fill-rest policy-sides">
        {read?.root === undefined ? (
          <p class="muted pad">The rows come back when the text is whole.</p>
        ) : (
          <PolicyRowsView text={text} root={read.root} wrong={read.ok ? undefined : read} onEdit={controller.edit} />
        )}
        <div class="policy-text">
          {ownText ? (
            <slot name="text" />
          ) : (
            <textarea
              class="field mono text"
              aria-label="Policy as JSON"
              aria-invalid={fault !== undefined}
              spellcheck={false}
              value={text}
              onInput={({ currentTarget }) => controller.edit(currentTarget.value)}
            />
          )}
        </div>
      </div>
      {controller.trial !== undefined && isChanged && read?.ok === true && (
        <PolicyEffects trial={controller.trial} policy={read.policy} revision={revision} />
      )}
      {controller.trial !== undefined && <PolicyVerdict trial={controller.trial} read={read} revision={revision} />}
    </section>
  )
}

/** Presets, what the page adds, and the buttons of the draft. */
function PolicyBar({
  controller,
  snapshot: { isChanged, read, isApplying },
  disabled,
}: {
  readonly controller: PolicyEditor
  readonly snapshot: PolicyEditorSnapshot
  readonly disabled: boolean
}) {
  const load = (policy: unknown) => controller.edit(JSON.stringify(policy, null, 2))
  return (
    <div class="bar">
      <Select
        label="Begin with"
        value={undefined}
        placeholder="A preset…"
        options={presetNames.map((name) => ({ value: name, label: name }))}
        onChange={(preset) => load({ preset })}
      />
      <button type="button" class="button quiet" onClick={() => load(example)}>
        An example
      </button>
      <span class="grow" />
      <slot name="bar" />
      {isChanged && (
        <button type="button" class="button quiet" onClick={controller.reset}>
          Discard
        </button>
      )}
      <button
        type="button"
        class="button primary"
        disabled={!isChanged || read?.ok !== true || isApplying || disabled}
        onClick={() => void controller.apply()}
      >
        Apply
      </button>
    </div>
  )
}

const example = {
  preset: 'supervised',
  rules: [
    { name: 'sources may be edited', action: 'allow', permissions: ['file:write:*'], paths: ['src/**'] },
    { name: 'tests may run', action: 'allow', commands: ['npm test', 'npm test *'] },
    { name: 'the licence is final', action: 'deny', permissions: ['file:write:*', 'file:delete'], paths: ['LICENSE'] },
  ],
  labels: {
    sources: [{ label: 'confidential', paths: ['people/**'] }],
    sinks: [{ name: 'published pages', ceiling: 'public', paths: ['public/**'] }],
  },
}
