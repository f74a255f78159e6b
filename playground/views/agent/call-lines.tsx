import type { TimelineEntry } from 'wardspace/ui'
import { codeWords, outcomeOf, refusalsOf, ruleInWords } from 'wardspace/ui'
import { scrollable } from '../../../src/elements/parts/focusable.ts'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import type { ConversationItem } from '../../session/conversation.ts'
import { iconOf, objectOf, verbOf } from './call-words.ts'

type CallItem = Extract<ConversationItem, { kind: 'call' }>

export interface CallProps {
  readonly item: CallItem
  /** Its entry in the timeline; undefined until the call has reached the workspace. */
  readonly entry: TimelineEntry | undefined
  readonly onOpen: (key: string) => void
}

/** A call as one quiet line; a refused one as a card. */
export function CallLine({ item, entry, onOpen }: CallProps) {
  const refusals = entry === undefined ? [] : refusalsOf(entry)
  if (entry !== undefined && refusals.length > 0) {
    return <RefusalCard item={item} entry={entry} onOpen={onOpen} refusals={refusals} />
  }
  const isDone = item.ok !== undefined
  return (
    <button
      type="button"
      class="call-line"
      disabled={entry === undefined}
      onClick={() => entry !== undefined && onOpen(entry.key)}
    >
      <Icon name={iconOf(item.tool)} />
      <span class="cut grow">
        {item.ok === false ? `Could not ${verbOf(item.tool, 'wanted')}` : verbOf(item.tool, isDone ? 'did' : 'does')}{' '}
        <span class="mono">{objectOf(item.tool, item.input)}</span>
      </span>
      <CallState item={item} entry={entry} />
    </button>
  )
}

/** The outcome where it is not the usual one, or the time. */
function CallState({ item, entry }: Pick<CallProps, 'item' | 'entry'>) {
  if (entry === undefined) return <span class="muted small">{item.ok === undefined ? '…' : (item.code ?? '')}</span>
  const { text, tone } = outcomeOf(entry)
  if (tone === 'good' && text === 'allowed') {
    return <span class="muted small number">{entry.durationMs === undefined ? '' : `${entry.durationMs} ms`}</span>
  }
  return <span class={`tag ${tone}`}>{text}</span>
}

/** What was tried, why it was stopped and by which rule. The model's own text is behind a press. */
function RefusalCard({
  item,
  entry,
  onOpen,
  refusals,
}: CallProps & { readonly entry: TimelineEntry; readonly refusals: readonly string[] }) {
  const rules = (entry.record?.policyDecision.rules ?? []).filter(({ action }) => action === 'deny')
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
        The agent {isPart ? 'ran' : `tried to ${verbOf(item.tool, 'wanted')}`}{' '}
        <span class="mono">{objectOf(item.tool, item.input)}</span>
        {isPart && ', and this part of it got nothing'}
      </p>
      {entry.result?.ok === false && <p class="muted small">{codeWords[entry.result.code]?.why}</p>}
      {rules.length > 0 && (
        <p class="muted small">
          Because {[...new Set(rules.map(ruleInWords))].join(', and ')} (
          {[...new Set(rules.map(({ name }) => name))].join(', ')})
        </p>
      )}
      <div class="row wrap">
        <details>
          <summary>Show what the model was told</summary>
          <pre class="box wrapped" {...scrollable}>
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
