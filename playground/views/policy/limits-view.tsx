import './policy.css'
import type { Policy } from 'wardspace'
import { defaultLimits } from 'wardspace'
import { isRefusal, labelWords } from 'wardspace/ui'
import { scrollable } from '../../../src/elements/parts/focusable.ts'
import { sizeInWords } from '../../../src/elements/parts/size-words.ts'
import type { Session } from '../../session/types.ts'

/** The limits that the agent's run has used, and the taint of what it has read. */
export function LimitsView({ session }: { readonly session: Session }) {
  const run = session.agentRun.value
  session.revision.value
  const records = session.audit.value.filter(({ runId, phase }) => runId === run.id && phase !== 'intent')
  const written = session.workspace.value
    .history()
    .entries.filter(({ runId }) => runId === run.id)
    .flatMap(({ changes = [] }) => changes)
    .reduce((sum, { became }) => sum + (became?.type === 'file' ? became.size : 0), 0)
  const read = records.flatMap(({ code, pathsRead }) => (code === undefined ? pathsRead : []))
  const blocked = records.filter(
    ({ code, refusals = [] }) => (code !== undefined && isRefusal({ code })) || refusals.length > 0,
  )
  const now = Date.now()
  const recent = records.filter(({ timestamp }) => now - Date.parse(timestamp) < 60_000).length
  const { policy } = session.settings.value
  const limits = typeof policy === 'string' ? {} : (policy.limits ?? {})
  const label = run.taint.label()
  const bounds: readonly (readonly [string, number, number, (amount: number) => string])[] = [
    ['Calls in a minute', recent, limits.callsPerMinute ?? defaultLimits.callsPerMinute, inDigits],
    ['Written', written, limits.bytesWrittenPerRun ?? defaultLimits.bytesWrittenPerRun, sizeInWords],
  ]
  const budget: readonly (readonly [string, string])[] = [
    ['Files', inDigits(limits.patchFiles ?? defaultLimits.patchFiles)],
    ['Deleted files', inDigits(limits.patchDeletes ?? defaultLimits.patchDeletes)],
    ['Added lines', inDigits(limits.patchInsertions ?? defaultLimits.patchInsertions)],
    ['Removed lines', inDigits(limits.patchDeletions ?? defaultLimits.patchDeletions)],
    ['Size', sizeInWords(limits.patchBytes ?? defaultLimits.patchBytes)],
  ]
  return (
    <section class="fill scroll pad stack" aria-label="Limits of this run" {...scrollable}>
      <TaintSection label={label} origins={run.taint.origins()} hasLabels={hasLabels(policy)} />
      <section class="stack">
        <h2>This run</h2>
        <dl class="facts">
          <Fact name="Run" value={run.id} />
          <Fact name="Task" value={run.task?.text} />
          <Fact name="Scope" value={run.task?.scope?.join(', ')} />
          <Fact name="Plan" value={run.plan === undefined ? undefined : 'approved'} />
          <Fact name="Calls" value={String(records.length)} />
          <Fact name="Blocked" value={String(blocked.length)} />
          <Fact name="Files read" value={String(new Set(read).size)} />
        </dl>
        {bounds.map(([name, used, max, unit]) => (
          <div key={name}>
            <div class="row">
              <span class="grow">{name}</span>
              <span class="muted number">
                {unit(used)} of {unit(max)}
              </span>
            </div>
            <progress aria-label={name} max={max} value={Math.min(used, max)} />
          </div>
        ))}
      </section>
      <section class="stack">
        <h2>One patch, at most</h2>
        <dl class="facts">
          {budget.map(([name, max]) => (
            <Fact key={name} name={name} value={max} />
          ))}
        </dl>
      </section>
    </section>
  )
}

const inDigits = (amount: number) => amount.toLocaleString('en')

function TaintSection({
  label,
  origins,
  hasLabels,
}: {
  readonly label: string
  readonly origins: ReturnType<Session['agentRun']['value']['taint']['origins']>
  readonly hasLabels: boolean
}) {
  return (
    <section class="stack">
      <h2>What it has read</h2>
      <p>
        <span class={`tag taint-${label}`}>{labelWords[label]?.name ?? label}</span> {labelWords[label]?.why}
      </p>
      {origins.length === 0 ? (
        <p class="muted">No labelled content was read{hasLabels ? '' : '; this policy has no labels'}.</p>
      ) : (
        <ul class="rules">
          {origins.map(({ label: originLabel, tool, path, callId }) => (
            <li key={callId}>
              <span class={`tag taint-${originLabel}`}>{labelWords[originLabel]?.name ?? originLabel}</span>
              <span class="mono">
                {tool} {path ?? ''}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Fact({ name, value }: { readonly name: string; readonly value: string | undefined }) {
  return value === undefined ? null : (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function hasLabels(policy: Policy['data'] | string | object): boolean {
  return typeof policy === 'object' && 'labels' in policy
}
