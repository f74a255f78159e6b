import '../../../src/elements/parts/markdown.css'
import './report.css'
import type { ReadonlySignal } from '@preact/signals'
import { reportMarkdown } from 'wardspace/audit'
import { scrollable } from '../../../src/elements/parts/focusable.ts'
import { Markdown } from '../../../src/elements/parts/markdown.tsx'
import { download } from '../../projects/download.ts'
import type { Session } from '../../session/types.ts'
import { chosenReport } from './reports.ts'

export interface ReportViewProps {
  readonly session: Session
  /** The run; undefined for the last one of the agent. */
  readonly selected: ReadonlySignal<string | undefined>
}

/** The report of a run. */
export function ReportView({ session, selected }: ReportViewProps) {
  const report = chosenReport(session.audit.value, selected.value)
  if (report === undefined) {
    return (
      <div class="empty">
        <p>There are no calls yet. After a run, its report appears here: what was read, changed, asked and refused.</p>
      </div>
    )
  }
  return (
    <div class="fill">
      <div class="bar">
        <span class="grow muted mono cut">{report.runId}</span>
        <button type="button" class="button" onClick={() => download(`${report.runId}.md`, reportMarkdown(report))}>
          Save report
        </button>
      </div>
      <section class="fill-rest scroll pad" aria-label="Report" {...scrollable}>
        <div class="report">
          <Markdown text={reportMarkdown(report)} top={2} />
        </div>
      </section>
    </div>
  )
}
