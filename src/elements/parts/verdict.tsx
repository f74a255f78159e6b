import type { TimelineEntry } from '../../ui/timeline.ts'
import { outcomeOf } from '../../ui/words/call-words.ts'
import { type DecidingRule, decisionWords, ruleInWords } from '../../ui/words/verdict-words.ts'

export function Outcome({ entry }: { readonly entry: TimelineEntry }) {
  const { text, tone } = outcomeOf(entry)
  return <span class={`tag ${tone}`}>{text}</span>
}

export interface RulesProps {
  readonly rules: readonly (DecidingRule & { readonly path?: string | undefined })[]
}

/** The rules that took part in a decision. */
export function Rules({ rules }: RulesProps) {
  if (rules.length === 0) return <p class="muted">No rule took part.</p>
  // A rule that decides about several names says it once.
  const shown = new Map(rules.map((rule) => [`${rule.action} ${ruleInWords(rule)} ${rule.path ?? ''}`, rule]))
  return (
    <ul class="rules">
      {[...shown].map(([key, rule]) => (
        <li key={key}>
          <span class={`tag ${rule.action === 'allow' ? 'good' : rule.action === 'ask' ? 'warn' : 'bad'}`}>
            {decisionWords[rule.action]}
          </span>
          <span title={`${rule.source ?? 'rule'} ${rule.name}`}>
            {ruleInWords(rule)}
            {rule.path !== undefined && rule.path !== '' && (
              <>
                : <span class="mono">{rule.path}</span>
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}
