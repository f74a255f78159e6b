import './timeline.css'
import { type Signal, useSignal } from '@preact/signals'
import type { TimelineEntry } from 'wardspace/ui'
import { aboutCall, isRefusal, refusalInWords } from 'wardspace/ui'
import { scrollable } from '../../../src/elements/parts/focusable.ts'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { Outcome, Rules } from '../../../src/elements/parts/verdict.tsx'
import { changesOfCall, type FileChange } from '../../session/changes.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { ChangeDiff, InlineSwitch } from '../changes/change-diff.tsx'
import { RealFiles } from './real-files.tsx'

export interface CallViewProps {
  readonly projectSession: Pick<ProjectSession, 'session' | 'project'>
  /** Key of the call. */
  readonly selected: string | undefined
  /** Whether differences are shown inline. */
  readonly inline: Signal<boolean>
  readonly onCall: (key: string) => void
}

/** One call: its input, the result that the model saw, and its real effect. */
export function CallView({ projectSession, selected, inline, onCall }: CallViewProps) {
  const entries = projectSession.session.timeline.value
  const at = entries.findIndex(({ key }) => key === selected)
  const entry = entries[at]
  if (entry === undefined) {
    return (
      <div class="empty">
        <p>Choose a call in the timeline or in the conversation.</p>
      </div>
    )
  }
  const go = (step: number) => {
    const next = entries[at + step]
    if (next !== undefined) onCall(next.key)
  }
  const callId = entry.record?.toolCallId
  const canUndo = entry.result?.ok === true && (entry.record?.pathsWritten.length ?? 0) > 0
  return (
    <div class="fill">
      <div class="bar">
        <strong class="mono">{entry.tool}</strong>
        <Outcome entry={entry} />
        <span class="mono muted cut grow">{aboutCall(entry.tool, entry.input)}</span>
        {canUndo && callId !== undefined && (
          <button type="button" class="button" onClick={() => void projectSession.session.undo(callId)}>
            <Icon name="undo" /> Undo this call
          </button>
        )}
        <button type="button" class="button" disabled={at === 0} onClick={() => go(-1)}>
          Earlier
        </button>
        <button type="button" class="button" disabled={at === entries.length - 1} onClick={() => go(1)}>
          Later
        </button>
      </div>
      <section class="fill-rest scroll call" aria-label={`Call ${entry.key}`} {...scrollable}>
        <div class="call-sides">
          <section>
            <h2>What the {entry.actor === 'agent' ? 'model' : 'caller'} asked and saw</h2>
            <Json label="Input" value={entry.input} />
            {entry.result === undefined ? <p class="muted">No result yet.</p> : <Seen entry={entry} />}
          </section>
          <section>
            <h2>What really happened</h2>
            <Happened entry={entry} />
            <RealFiles projectSession={projectSession} entry={entry} />
          </section>
        </div>
        {callId !== undefined && canUndo && (
          <CallChanges projectSession={projectSession} callId={callId} inline={inline} />
        )}
      </section>
    </div>
  )
}

function Seen({ entry }: { readonly entry: TimelineEntry }) {
  const { result } = entry
  if (result === undefined) return null
  const { content, stdout, stderr, diff, ...rest } = result as Record<string, unknown>
  const texts = { content, stdout, stderr, diff }
  return (
    <>
      <Json label="Answer" value={rest} />
      {Object.entries(texts).map(([name, text]) =>
        typeof text === 'string' && text !== '' ? (
          <div key={name}>
            <h3 class="muted">{name}</h3>
            <pre class="box" {...scrollable}>
              {text}
            </pre>
          </div>
        ) : null,
      )}
    </>
  )
}

function outcomeOf({ code, step }: NonNullable<TimelineEntry['record']>): string {
  if (code === undefined) return 'carried out'
  return `${isRefusal({ code }) ? 'refused' : 'failed'} at “${step}” with ${code}`
}

function Happened({ entry }: { readonly entry: TimelineEntry }) {
  const { record } = entry
  if (record === undefined) return <p class="muted">The audit does not contain the outcome of this call.</p>
  const { refusals = [], approvals = [] } = record
  const paths = (all: readonly string[] | undefined) =>
    all === undefined || all.length === 0 ? undefined : all.map((path) => path || '.').join(', ')
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Outcome', outcomeOf(record)],
    ['Asked for', paths(record.pathsAsked)],
    ['Read', paths(record.pathsRead)],
    ['Looked through', paths(record.pathsSearched)],
    ['Wrote', paths(record.pathsWritten)],
    ['Reason given', record.reason],
    ['Label', record.label],
    ['Time', record.durationMs === undefined ? undefined : `${Math.round(record.durationMs * 10) / 10} ms`],
    [
      'Approved',
      approvals.length === 0 ? undefined : approvals.map(({ how, by }) => `${how}${by ? ` by ${by}` : ''}`).join(', '),
    ],
    ['Audit record', `${record.sequence}, ${record.hash.slice(0, 12)}…`],
  ]
  return (
    <>
      <dl class="facts">
        {rows.map(([name, value]) =>
          value === undefined ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
      </dl>
      <h3 class="muted">What the policy says</h3>
      <Rules rules={record.policyDecision.rules} />
      {refusals.length > 0 && (
        <>
          <h3 class="muted">What the command tried, and did not get</h3>
          <ul class="rules">
            {refusals.map((refusal) => (
              <li key={`${refusal.permission} ${refusal.path}`} title={`${refusal.code}: ${refusal.permission}`}>
                <Icon name="blocked" /> {refusalInWords(refusal)}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}

function CallChanges({
  projectSession,
  callId,
  inline,
}: Pick<CallViewProps, 'projectSession' | 'inline'> & { readonly callId: string }) {
  const changes = useSignal<readonly FileChange[]>([])
  useLatest(
    () => changesOfCall(projectSession.project, projectSession.session.workspace.value, callId),
    (files) => {
      changes.value = files
    },
    [callId],
  )
  if (changes.value.length === 0) return null
  return (
    <section class="call-changes">
      <div class="row">
        <h2 class="grow">Changes</h2>
        <InlineSwitch inline={inline} />
      </div>
      {changes.value.slice(0, 20).map((change) => (
        <div key={change.path}>
          <h3 class="mono">
            <span class={`tree-mark ${change.status}`}>{change.status}</span> {change.path}
          </h3>
          <div class="call-diff">
            <ChangeDiff change={change} inline={inline.value} />
          </div>
        </div>
      ))}
      {changes.value.length > 20 && <p class="muted">And {changes.value.length - 20} more files.</p>}
    </section>
  )
}

export function Json({ label, value }: { readonly label: string; readonly value: unknown }) {
  return (
    <div>
      <h3 class="muted">{label}</h3>
      <pre class="box" {...scrollable}>
        {JSON.stringify(value, null, 2)}
      </pre>
    </div>
  )
}
