import { useState } from 'preact/hooks'
import type { ChangeOutcome, Changes } from '../../ui/changes.ts'
import { isViewed } from '../../ui/changes.ts'
import { counted } from '../../util/counted.ts'
import type { ViewContext } from '../define-element.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { Select } from '../parts/select.tsx'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { DiffProperties } from '../properties.ts'
import { ChangedFiles } from './changed-files.tsx'
import styles from './diff.css?inline'
import { FileReview } from './file-review.tsx'

export { styles }

/** The changed files as a tree, and the review of one. */
export function View(properties: DiffProperties & ViewContext) {
  const { controller, view, dispatch } = properties
  const { files, isLoading, since, trouble } = useSnapshot(controller)
  const [outcome, setOutcome] = useState<(ChangeOutcome & { readonly text: string }) | undefined>()
  const act = async (text: string, action: Promise<ChangeOutcome>) => setOutcome({ ...(await action), text })
  const select = (path: string) => {
    void controller.select(path)
    dispatch('wardspace-open-change', { path })
  }
  if (isLoading) return <div class="skeleton" />
  return (
    <div class="fill">
      {trouble !== undefined && <p class="notice bad">{trouble}</p>}
      {outcome !== undefined && (
        // It stays when the file has no change left.
        <OutcomeNote
          outcome={outcome}
          onUndo={(callId) => void act('The changes are back', controller.undo(callId))}
          onClose={() => setOutcome(undefined)}
        />
      )}
      {files.length === 0 && trouble === undefined && (
        <div class="empty">
          <p>
            {view === 'files'
              ? 'Each file that you or the agent changes appears here, with its difference.'
              : `Nothing has changed since ${since}.`}
          </p>
        </div>
      )}
      {files.length > 0 && (
        <div class={`fill review ${view ?? 'both'}`}>
          {view !== 'file' && <ChangedFiles review={controller} onSelect={select} />}
          {view !== 'files' && <Review {...properties} onAct={(text, action) => void act(text, action)} />}
        </div>
      )}
    </div>
  )
}

function Review({
  controller,
  disabled = false,
  paint,
  drafts,
  unsendable,
  dispatch,
  onAct,
}: DiffProperties & ViewContext & { readonly onAct: (text: string, action: Promise<ChangeOutcome>) => void }) {
  const { files, selected, since, layout, comments } = controller.snapshot
  const at = Math.max(
    0,
    files.findIndex(({ path }) => path === selected),
  )
  const file = files[at]
  const viewed = files.filter((one) => isViewed(controller.snapshot, one)).length
  return (
    <div class="fill">
      <div class="bar">
        <span class="grow">
          {files.length === 1 ? '1 file has' : `${files.length} files have`} changed since {since}
        </span>
        {viewed > 0 && <span class="muted number">{viewed} viewed</span>}
        <Select
          class="layout-choice"
          label="Layout of differences"
          value={layout}
          options={[
            { value: 'fit', label: 'Layout by width' },
            { value: 'inline', label: 'Inline' },
            { value: 'sides', label: 'Side by side' },
          ]}
          onChange={controller.setLayout}
        />
      </div>
      {file !== undefined && (
        <FileReview
          key={file.path}
          review={controller}
          file={file}
          paint={paint}
          drafts={drafts}
          isWritable={!disabled}
          onAct={onAct}
          onOpen={(path) => dispatch('wardspace-open-file', { path })}
          onFile={(step) => void controller.select(files[(at + step + files.length) % files.length]?.path ?? file.path)}
        />
      )}
      {comments.length > 0 && <PendingComments review={controller} reason={unsendable} />}
    </div>
  )
}

function OutcomeNote({
  outcome,
  onUndo,
  onClose,
}: {
  readonly outcome: ChangeOutcome & { readonly text: string }
  readonly onUndo: (callId: string) => void
  readonly onClose: () => void
}) {
  const isBad = 'trouble' in outcome
  return (
    <div class={`notice row ${isBad ? 'bad' : 'good'}`} role={isBad ? 'alert' : 'status'}>
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
function PendingComments({ review, reason }: { readonly review: Changes; readonly reason: string | undefined }) {
  return (
    <div class="bar review-end" role="status">
      <span class="grow">
        {counted(review.snapshot.comments.length, 'comment')} not sent yet{reason && `. ${reason}`}
      </span>
      <button type="button" class="button primary" disabled={reason !== undefined} onClick={() => void review.send()}>
        Send to the agent
      </button>
    </div>
  )
}
