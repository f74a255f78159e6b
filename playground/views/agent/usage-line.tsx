import { counted } from '../../../src/util/counted.ts'
import type { ProjectSession } from '../../session/project-session.ts'

/** From this part on, the conversation is about to be compacted. */
const NEARLY_FULL = 0.7

/** What the conversation has used, and how full the context of the model is. */
export function UsageLine({ conversation }: { readonly conversation: ProjectSession['conversation'] }) {
  const { steps, inputTokens, outputTokens, cost } = conversation.usage.value
  const { tokens = 0, limit } = conversation.context.value ?? {}
  if (steps === 0) return null
  const part = limit === undefined ? 0 : Math.min(1, tokens / limit)
  const percent = Math.round(part * 100)
  return (
    <div slot="footer" class="usage muted small">
      {limit !== undefined && (
        <span
          class="context-use"
          title={`The next request takes about ${short(tokens)} of ${short(limit)} tokens. Earlier results are replaced by their addresses before it is full.`}
        >
          <meter aria-label="Context of the model" min={0} max={1} value={part} high={NEARLY_FULL} optimum={0} />
          <span class="number">{percent} % of the context</span>
        </span>
      )}
      <span class="number" title={`${counted(steps, 'step')} of the model`}>
        {inputTokens + outputTokens === 0
          ? 'Tokens unknown'
          : `${inputTokens === 0 ? 'Unknown' : short(inputTokens)} tokens read, ${outputTokens === 0 ? 'unknown' : short(outputTokens)} written`}
      </span>
      {cost !== undefined && cost > 0 && <span class="number">{dollars(cost)}</span>}
    </div>
  )
}

function short(count: number): string {
  return count < 1_000 ? String(count) : `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`
}

function dollars(cost: number): string {
  return cost < 0.01 ? 'less than 1 ¢' : `$${cost.toFixed(2)}`
}
