import { useSignal } from '@preact/signals'
import type { Workspace } from 'wardspace'
import { reportMarkdown, reportRuns } from 'wardspace/audit'
import type { Replay } from 'wardspace/replay'
import { download } from '../projects/download.ts'
import type { ProjectSession } from '../session/project-session.ts'
import type { Recording } from '../session/recordings.ts'
import { repeat } from '../session/repeat.ts'
import { announce } from '../ui/announce.tsx'
import { scrollable } from '../ui/focusable.ts'
import { ReportText } from '../ui/report-text.tsx'

/** The report of a run, the verification of the audit, and recordings. */
export function ReportView({ projectSession }: { readonly projectSession: ProjectSession }) {
  const { session } = projectSession
  const records = session.audit.value
  const chosen = useSignal<string | undefined>(undefined)
  const reports = reportRuns(records).filter(({ calls }) => calls.carriedOut + calls.refused > 0)
  const agents = reports.filter(({ actor }) => actor === 'agent')
  const report = reports.find(({ runId }) => runId === chosen.value) ?? agents.at(-1) ?? reports.at(-1)
  const check = useSignal<ReturnType<Workspace['verifyAudit']> | undefined>(undefined)
  return (
    <div class="fill">
      <div class="bar">
        <label for="report-run">Run</label>
        <select
          id="report-run"
          value={report?.runId ?? ''}
          onChange={({ currentTarget }) => {
            chosen.value = currentTarget.value
          }}
        >
          {reports.map(({ runId }) => (
            <option key={runId} value={runId}>
              {runId}
            </option>
          ))}
        </select>
        <button
          type="button"
          class="button"
          disabled={report === undefined}
          onClick={() => report && download(`${report.runId}.md`, reportMarkdown(report))}
        >
          Save report
        </button>
        <span class="grow" />
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
            ? `The chain of ${check.value.count} records is intact. It ends with ${check.value.head.hash}.`
            : `The chain breaks at record ${check.value.at + 1}: ${check.value.reason}`}
        </p>
      )}
      <RecordingBar projectSession={projectSession} />
      <section class="fill-rest scroll pad" aria-label="Report" {...scrollable}>
        {report === undefined ? (
          <p class="muted">There are no calls yet.</p>
        ) : (
          <ReportText text={reportMarkdown(report)} />
        )}
      </section>
    </div>
  )
}

function RecordingBar({ projectSession }: { readonly projectSession: ProjectSession }) {
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
    <div class="bar wrap">
      <span class="muted">Recording</span>
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
      <span class="grow cut" role="status">
        {trouble.value ?? describe(result.value, recording.value)}
      </span>
    </div>
  )
}

function describe(result: Replay | undefined, recording: Recording | undefined): string {
  if (result === undefined)
    return recording === undefined ? '' : `${recording.steps} steps recorded, with the files before them`
  if (result.ok) return `Replayed: all ${result.steps} steps had the same result`
  return `Differs after ${result.steps} steps, at ${result.step.name ?? result.step.type}: ${result.field ?? result.why}`
}
