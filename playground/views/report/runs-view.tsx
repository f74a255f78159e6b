import { type Signal, useSignal } from '@preact/signals'
import type { Workspace } from 'wardspace'
import type { Replay } from 'wardspace/replay'
import { Select } from '../../../src/elements/parts/select.tsx'
import { counted } from '../../../src/util/counted.ts'
import { download } from '../../projects/download.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import type { Recording } from '../../session/recordings.ts'
import { repeat } from '../../session/repeat.ts'
import { reportsOf } from '../../session/run-summary.ts'
import { announce } from '../../ui/announce.tsx'
import { chosenReport } from './reports.ts'

export interface RunsViewProps {
  readonly projectSession: Pick<ProjectSession, 'session' | 'writable' | 'conversation'>
  /** The run whose report is shown. */
  readonly selected: Signal<string | undefined>
}

/** The runs with a report, the verification of the audit, and recordings. */
export function RunsView({ projectSession, selected }: RunsViewProps) {
  const { session } = projectSession
  const records = session.audit.value
  const reports = reportsOf(records)
  return (
    <div class="fill scroll">
      <section class="stack pad" aria-label="Run">
        <h3>Run</h3>
        <Select
          label="Run"
          value={chosenReport(records, selected.value)?.runId}
          placeholder="none yet"
          options={reports.map(({ runId }) => ({ value: runId, label: runId }))}
          disabled={reports.length === 0}
          onChange={(runId) => {
            selected.value = runId
          }}
        />
      </section>
      <AuditSection session={session} />
      <RecordingSection projectSession={projectSession} />
    </div>
  )
}

function AuditSection({ session }: Pick<ProjectSession, 'session'>) {
  const check = useSignal<ReturnType<Workspace['verifyAudit']> | undefined>(undefined)
  const records = session.audit.value
  return (
    <section class="stack pad" aria-label="Audit">
      <h3>Audit</h3>
      <div class="row wrap">
        <button
          type="button"
          class="button"
          onClick={() => {
            check.value = session.workspace.value.verifyAudit()
            announce(check.value.ok ? 'The audit is intact' : 'The audit is broken')
          }}
        >
          Verify audit
        </button>
        <button
          type="button"
          class="button"
          disabled={records.length === 0}
          onClick={() => download('audit.jsonl', records.map((one) => JSON.stringify(one)).join('\n'))}
        >
          Save audit
        </button>
      </div>
      {check.value !== undefined && (
        <p class={`notice ${check.value.ok ? 'good' : 'bad'}`} role="status">
          {check.value.ok
            ? `The chain of ${counted(check.value.count, 'record')} is intact. It ends with ${check.value.head.hash}.`
            : `The chain breaks at record ${check.value.at + 1}: ${check.value.reason}`}
        </p>
      )}
    </section>
  )
}

function RecordingSection({ projectSession }: Pick<RunsViewProps, 'projectSession'>) {
  const { session } = projectSession
  const recording = useSignal<Recording | undefined>(undefined)
  const result = useSignal<Replay | undefined>(undefined)
  const trouble = useSignal<string | undefined>(undefined)
  const busy = useSignal(false)
  const running = session.recording.value
  const act = async (action: () => Promise<void>) => {
    busy.value = true
    trouble.value = undefined
    try {
      await action()
    } catch (error) {
      trouble.value = (error as Error).message
    } finally {
      busy.value = false
    }
  }
  const isBusy = busy.value || projectSession.conversation.isWorking.value
  return (
    <section class="stack pad" aria-label="Recording">
      <h3>Recording</h3>
      <div class="row wrap">
        {running === undefined ? (
          <button
            type="button"
            class="button"
            disabled={isBusy || !projectSession.writable.value}
            onClick={() => void act(() => session.startRecording())}
          >
            Record from here
          </button>
        ) : (
          <button
            type="button"
            class="button danger"
            disabled={isBusy}
            onClick={() =>
              void act(async () => {
                recording.value = await session.stopRecording()
                result.value = undefined
              })
            }
          >
            Stop ({running.steps} steps)
          </button>
        )}
        <button
          type="button"
          class="button"
          disabled={recording.value === undefined || isBusy}
          onClick={() =>
            void act(async () => {
              if (recording.value !== undefined) result.value = await repeat(recording.value)
            })
          }
        >
          Replay
        </button>
        <button
          type="button"
          class="button"
          disabled={recording.value === undefined}
          onClick={() => recording.value && download('recording.jsonl', recording.value.text)}
        >
          Save recording
        </button>
      </div>
      <p class="muted" role="status">
        {trouble.value ?? describe(result.value, recording.value)}
      </p>
    </section>
  )
}

function describe(result: Replay | undefined, recording: Recording | undefined): string {
  if (result === undefined)
    return recording === undefined ? '' : `${counted(recording.steps, 'step')} recorded, with the files before them`
  if (result.ok) return `Replayed: ${counted(result.steps, 'step')} had the same result`
  return `Differs after ${counted(result.steps, 'step')}, at ${result.step.name ?? result.step.type}: ${result.field ?? result.why}`
}
