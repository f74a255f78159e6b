import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { joinSentences } from 'wardspace/dialect'
import { IconButton } from '../../../src/elements/parts/icon-button.tsx'
import { Select } from '../../../src/elements/parts/select.tsx'
import type { ChangesReview, Outcome } from '../../session/changes-review.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { announce } from '../../ui/announce.tsx'
import './changes.css'
import { UnifiedDiff } from '../../../src/elements/parts/unified-diff.tsx'
import { FileReview } from './file-review.tsx'
import { useReview } from './use-review.ts'

export interface ChangesViewProps {
  readonly projectSession: Pick<ProjectSession, 'session' | 'look' | 'review' | 'writable' | 'conversation'>
  /** Path of the changed file that is shown. */
  readonly selected: Signal<string | undefined>
}

/** The changes since the project was first opened here or, in a repository, since the last commit. */
export function ChangesView({ projectSession, selected }: ChangesViewProps) {
  const sinceCommit = useSignal(false)
  const hasCommits = useSignal(false)
  useEffect(() => {
    void projectSession.look('diff_workspace', { statOnly: true }).then((diff) => {
      hasCommits.value = diff.ok && typeof diff.baseCommit === 'string'
    })
  }, [projectSession])
  return (
    <div class="fill">
      {hasCommits.value && (
        <div class="bar">
          <span class="muted">Compared with</span>
          <Select
            label="Compared with"
            value={sinceCommit.value ? 'commit' : 'opened'}
            options={[
              { value: 'opened', label: 'the project as it was first opened here' },
              { value: 'commit', label: 'the last commit' },
            ]}
            onChange={(base) => {
              sinceCommit.value = base === 'commit'
            }}
          />
        </div>
      )}
      {sinceCommit.value ? (
        <SinceCommit projectSession={projectSession} />
      ) : (
        <SinceOpened projectSession={projectSession} selected={selected} />
      )}
    </div>
  )
}

/** The patch from the last commit to the current files, as git would show it, without secrets. */
function SinceCommit({ projectSession }: Pick<ChangesViewProps, 'projectSession'>) {
  const diff = useSignal<{ readonly text: string; readonly summary: string } | undefined>(undefined)
  const revision = projectSession.session.revision.value
  useEffect(() => {
    void projectSession.look('diff_workspace', { maxBytes: 1024 * 1024 }).then((result) => {
      diff.value = result.ok
        ? { text: String(result.diff), summary: result.summary }
        : { text: '', summary: joinSentences(result.message, result.hint) }
    })
  }, [revision])
  if (diff.value === undefined) return <div class="skeleton" />
  return (
    <div class="fill scroll pad stack">
      <p>{diff.value.summary}</p>
      {diff.value.text !== '' && <UnifiedDiff text={diff.value.text} />}
    </div>
  )
}

function SinceOpened({ projectSession, selected }: ChangesViewProps) {
  const review = useReview(projectSession)
  const outcome = useSignal<(Outcome & { readonly text: string }) | undefined>(undefined)
  if (review === undefined) return <div class="skeleton" />
  const files = review.files.value
  const at = Math.max(
    0,
    files.findIndex(({ path }) => path === selected.value),
  )
  const file = files[at]
  const act = async (text: string, action: Promise<Outcome>) => {
    const result = await action
    outcome.value = { ...result, text }
    announce('trouble' in result ? result.trouble : text)
  }
  // It stays when the file has no change left.
  const note = outcome.value !== undefined && (
    <OutcomeNote
      outcome={outcome.value}
      onUndo={(callId) => void act('The changes are back', review.undo(callId))}
      onClose={() => {
        outcome.value = undefined
      }}
    />
  )
  if (file === undefined) {
    return (
      <div class="fill">
        {note}
        <div class="empty">
          <p>Nothing has changed since the project was first opened here.</p>
        </div>
      </div>
    )
  }
  const viewed = files.filter((one) => review.isViewed(one)).length
  return (
    <div class="fill">
      <div class="bar">
        <span class="grow">
          {files.length === 1 ? '1 file differs' : `${files.length} files differ`} from the project as it was first
          opened here <span class="muted">· {viewed} viewed</span>
        </span>
        <Select
          label="Layout of differences"
          value={review.layout.value}
          options={[
            { value: 'fit', label: 'Layout by width' },
            { value: 'inline', label: 'Inline' },
            { value: 'sides', label: 'Side by side' },
          ]}
          onChange={(layout) => {
            review.layout.value = layout
          }}
        />
      </div>
      {note}
      <FileReview
        key={file.path}
        review={review}
        file={file}
        revision={projectSession.session.revision.value}
        isWritable={projectSession.writable.value}
        onAct={(text, action) => void act(text, action)}
        onFile={(step) => {
          selected.value = files[(at + step + files.length) % files.length]?.path
        }}
      />
      <PendingComments review={review} isWorking={projectSession.conversation.isWorking.value} />
    </div>
  )
}

function OutcomeNote({
  outcome,
  onUndo,
  onClose,
}: {
  readonly outcome: Outcome & { readonly text: string }
  readonly onUndo: (callId: string) => void
  readonly onClose: () => void
}) {
  const isBad = 'trouble' in outcome
  return (
    <div class={`notice row ${isBad ? 'bad' : 'good'}`} role={isBad ? 'alert' : undefined}>
      <span class="grow">{isBad ? outcome.trouble : outcome.text}</span>
      {!isBad && (
        <button type="button" class="button" onClick={() => onUndo(outcome.callId)}>
          Undo
        </button>
      )}
      <IconButton icon="close" label="Dismiss" onClick={onClose} />
    </div>
  )
}

/** The comments that are not sent yet. */
function PendingComments({ review, isWorking }: { readonly review: ChangesReview; readonly isWorking: boolean }) {
  const count = review.comments.value.length
  if (count === 0) return null
  const isQueued = review.isQueued.value
  return (
    <div class="bar review-end" role="status">
      <span class="grow">
        {count === 1 ? '1 comment' : `${count} comments`}{' '}
        {isQueued ? 'will be sent when the agent has finished' : 'not sent yet'}
      </span>
      <button type="button" class="button primary" disabled={isQueued} onClick={() => review.send()}>
        {isWorking ? 'Send when the agent has finished' : 'Send to the agent'}
      </button>
    </div>
  )
}
