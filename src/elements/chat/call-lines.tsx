import type { ErrorCode } from '../../errors.ts'
import type { ConversationCall } from '../../ui/conversation.ts'
import type { TimelineEntry } from '../../ui/timeline.ts'
import { outcomeOf } from '../../ui/words/call-words.ts'
import { codeWords } from '../../ui/words/code-words.ts'
import { refusalsOf } from '../../ui/words/refusals.ts'
import { ruleInWords } from '../../ui/words/verdict-words.ts'
import { scrollable } from '../parts/focusable.ts'
import { Icon } from '../parts/icon.tsx'
import { iconOf, objectOf, verbOf } from './call-verbs.ts'

export interface CallProps {
  readonly item: ConversationCall
  /** Its entry in the timeline; undefined until the call has reached the workspace. */
  readonly entry: TimelineEntry | undefined
  readonly onOpen: (key: string) => void
}

/** A call as one quiet line; a refused one as a card. */
export function CallLine({ item, entry, onOpen }: CallProps) {
  const refusals = entry === undefined ? [] : refusalsOf(entry)
  if (entry !== undefined && refusals.length > 0) {
    return <RefusalCard entry={entry} onOpen={onOpen} refusals={refusals} />
  }
  const { tool = entry?.tool ?? '', input = entry?.input, ok = entry?.result?.ok } = item
  return (
    <button
      type="button"
      class="call-line"
      disabled={entry === undefined}
      onClick={() => entry !== undefined && onOpen(entry.key)}
    >
      <Icon name={iconOf(tool)} />
      <span class="cut grow">
        {ok === false ? `Could not ${verbOf(tool, 'wanted')}` : verbOf(tool, ok === undefined ? 'does' : 'did')}{' '}
        <span class="mono">{objectOf(tool, input)}</span>
      </span>
      <CallState item={item} entry={entry} />
    </button>
  )
}

/** The outcome where it is not the usual one, or the time. */
function CallState({ item, entry }: Pick<CallProps, 'item' | 'entry'>) {
  if (entry === undefined) {
    // A call that could not be read has no code.
    const { title } = codeWords[item.code as ErrorCode] ?? codeWords.INVALID_INPUT
    return <span class="muted small">{item.ok === false ? title : item.ok ? '' : '…'}</span>
  }
  const { text, tone } = outcomeOf(entry)
  if (tone === 'good' && text === 'allowed') {
    return <span class="muted small number">{entry.durationMs === undefined ? '' : `${entry.durationMs} ms`}</span>
  }
  return <span class={`tag ${tone}`}>{text}</span>
}

/** What was tried, why it was stopped and by which rule. The model's own text is behind a press. */
function RefusalCard({
  entry,
  onOpen,
  refusals,
}: Pick<CallProps, 'onOpen'> & { readonly entry: TimelineEntry; readonly refusals: readonly string[] }) {
  const rules = (entry.record?.policyDecision.rules ?? []).filter(({ action }) => action === 'deny')
  // A code of the engine names no rule of the policy.
  const names = [...new Set(rules.map(({ name }) => name))].filter((name) => !/^[A-Z_]+$/.test(name))
  const isPart = entry.result?.ok === true
  return (
    <article class="refusal" aria-label={refusals[0]}>
      <h3>
        <Icon name="blocked" />
        <span>{refusals[0]}</span>
      </h3>
      {refusals.slice(1).map((refusal) => (
        <p key={refusal}>{refusal}</p>
      ))}
      <p class="muted">
        The agent {isPart ? 'ran' : `tried to ${verbOf(entry.tool, 'wanted')}`}{' '}
        <span class="mono">{objectOf(entry.tool, entry.input)}</span>
        {isPart && ', which was stopped in part'}
      </p>
      {entry.result?.ok === false && <p class="muted small">{codeWords[entry.result.code]?.why}</p>}
      {rules.length > 0 && (
        <p class="muted small">
          Because {[...new Set(rules.map(ruleInWords))].join(', and ')}
          {names.length > 0 && ` (${names.join(', ')})`}
        </p>
      )}
      <div class="refusal-more">
        <details>
          <summary>Show what the model was told</summary>
          <pre class="box" {...scrollable}>
            {toldText(entry)}
          </pre>
        </details>
        <button type="button" class="button quiet" onClick={() => onOpen(entry.key)}>
          Details
        </button>
      </div>
    </article>
  )
}

/** The result exactly as the model received it. */
function toldText({ result }: TimelineEntry): string {
  return JSON.stringify(result, null, 2)
}
