import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { Failure } from 'wardspace'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { hasChangesOf } from '../../session/changes.ts'
import { failureInWords } from '../../session/failure-words.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { summarizeTurn, type TestCount, type TurnSummary } from '../../session/run-summary.ts'
import { endHead, endTitle, type Turn } from '../../session/turn-words.ts'
import { announce } from '../../ui/announce.tsx'

export interface EndCardProps {
  readonly projectSession: Pick<ProjectSession, 'session' | 'conversation' | 'writable' | 'changed'>
  readonly turn: Turn
  /** The place of an earlier turn. Only one that has changed files has a card. */
  readonly slot?: string
  readonly onReview: () => void
  readonly onReport: (runId: string) => void
}

/** What the agent has done in a turn, in numbers, with what a person may want to do about it. */
export function EndCard({ projectSession, turn, slot, onReview, onReport }: EndCardProps) {
  const { session, conversation, changed, writable } = projectSession
  const trouble = useSignal<string | undefined>(undefined)
  const { steps, items } = turn
  const records = session.audit.value
  const summary = useMemo(
    () => summarizeTurn(steps, records, session.timeline.peek()),
    [steps.join(), records, session.timeline.value],
  )
  const state = useMemo(
    () => summary && stateOf(summary, session),
    [summary, session.revision.value, session.history.value],
  )
  if (summary === undefined || state === undefined) return null
  const { runId, filesChanged, refused, tests } = summary
  if (slot !== undefined && filesChanged === 0) return null
  const { before, isChanged, isChangedLater } = state
  const head = endHead(items)
  const beforeAndAfter = tests.filter((_, at) => at === 0 || at === tests.length - 1)
  const isTakenBack = before !== undefined && filesChanged > 0 && !isChanged
  const isFixed = conversation.isWorking.value || session.target.value !== undefined || !writable.value
  const takeBack = async () => {
    if (before === undefined) return
    const result = await session.takeBack(runId, before.id)
    trouble.value = result.ok ? undefined : troubleOf(result)
    if (result.ok) announce('The changes are taken back')
  }
  return (
    <section class="end-card" aria-label="End of the run" slot={slot}>
      <h3 class={head === undefined ? undefined : 'unfinished'}>
        <Icon name={head === undefined ? 'check' : 'stop'} />{' '}
        {endTitle(head, slot === undefined ? conversation.taskMs.value : 0)}
      </h3>
      <ul class="end-facts">
        {isTakenBack ? (
          <Fact number={filesChanged} text={`${filesChanged === 1 ? 'file is' : 'files are'} as before`} />
        ) : (
          <Fact number={filesChanged} text={filesChanged === 1 ? 'file changed' : 'files changed'} tone="changed" />
        )}
        <Fact number={refused} text={refused === 1 ? 'attempt blocked' : 'attempts blocked'} tone="bad" />
        {tests.length > 0 && (
          <li>
            <strong class="number">{beforeAndAfter.map(testText).join(' → ')}</strong>
            <span class="muted">{isTakenBack ? 'tests passed in the run' : 'tests pass'}</span>
          </li>
        )}
      </ul>
      <div class="row wrap">
        {filesChanged > 0 && (
          <>
            <button type="button" class="button" disabled={changed.value.size === 0} onClick={onReview}>
              <Icon name="diff" /> Review changes
            </button>
            <button
              type="button"
              class="button"
              disabled={!isChanged || isFixed}
              title={isChangedLater ? 'The later changes of the agent are taken back as well' : undefined}
              onClick={() => void takeBack()}
            >
              <Icon name="undo" /> {isChangedLater ? 'Take back from here' : 'Take it back'}
            </button>
          </>
        )}
        <button type="button" class="button" onClick={() => onReport(runId)}>
          <Icon name="report" /> Report
        </button>
      </div>
      {trouble.value !== undefined && <p role="alert">{trouble.value}</p>}
    </section>
  )
}

/** What has become of the changes of a turn. */
function stateOf({ runId, at, callIds }: TurnSummary, { history, workspace }: ProjectSession['session']) {
  const all = workspace.peek().history()
  const before = history.peek().findLast((point) => point.at <= at)
  const end = all.entries.findLastIndex(({ callId }) => callIds.has(callId)) + 1
  const ofRun = all.entries.slice(end).filter((entry) => entry.runId === runId)
  return {
    before,
    isChanged: before !== undefined && hasChangesOf(all, callIds),
    isChangedLater: hasChangesOf(all, new Set(ofRun.map(({ callId }) => callId))),
  }
}

/** Says why nothing was taken back, and names the files that have also changed since the run. */
function troubleOf(failure: Failure): string {
  const { code, paths } = failure
  if (code !== 'WRITE_CONFLICT' || !Array.isArray(paths)) return failureInWords(failure)
  const names = paths.slice(0, 5).map((path) => `“${path}”`)
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : ''
  const [has, them] = paths.length === 1 ? ['has', 'it'] : ['have', 'them']
  return `${names.join(', ')}${more} ${has} also changed since the run, so nothing was taken back. Review the changes to take back a part of ${them}.`
}

function Fact({ number, text, tone }: { readonly number: number; readonly text: string; readonly tone?: string }) {
  return (
    <li>
      <strong class={`number ${(number > 0 && tone) || ''}`}>{number}</strong>
      <span class="muted">{text}</span>
    </li>
  )
}

function testText({ passed, failed }: TestCount): string {
  return `${passed}/${passed + failed}`
}
