import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { createChanges } from 'wardspace/ui'
import { Select } from '../../../src/elements/parts/select.tsx'
import type { DiffProperties } from '../../../src/elements/properties.ts'
import { followed } from '../../session/followed.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { draftsOf } from '../../session/typed-texts.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { WardspaceElement } from '../../ui/wardspace-element.tsx'
import { loadPaint } from './paint.ts'
import { useReview } from './use-review.ts'

export interface ChangesViewProps {
  readonly projectSession: Pick<ProjectSession, 'session' | 'look' | 'review' | 'writable' | 'texts' | 'conversation'>
  /** The changed file that is shown. */
  readonly selected: Signal<{ readonly path: string } | undefined>
  readonly onOpen: (path: string) => void
}

/** The changes since the project was first opened here or, in a repository, since the last commit. */
export function ChangesView({ projectSession, selected, onOpen }: ChangesViewProps) {
  const sinceCommit = useSignal(false)
  const hasCommits = useSignal(false)
  const sinceOpened = useReview(projectSession)
  useEffect(() => {
    void projectSession.look('diff_workspace', { statOnly: true }).then((diff) => {
      hasCommits.value = diff.ok && typeof diff.baseCommit === 'string'
    })
  }, [projectSession])
  const isScripted = projectSession.conversation.pick.value.kind === 'scripted'
  const place = { selected: selected.value, onOpen }
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
        <SinceCommit projectSession={projectSession} {...place} />
      ) : sinceOpened === undefined ? (
        <div class="skeleton" />
      ) : (
        <Review
          controller={sinceOpened}
          view="file"
          disabled={!projectSession.writable.value}
          drafts={draftsOf(projectSession.texts)}
          unsendable={isScripted ? 'The scripted model cannot read comments: choose a model of your own.' : undefined}
          {...place}
        />
      )}
    </div>
  )
}

interface Place {
  readonly selected: { readonly path: string } | undefined
  readonly onOpen: (path: string) => void
}

/** The difference from the last commit, as git would show it, without secrets. */
function SinceCommit({ projectSession, ...place }: Place & Pick<ChangesViewProps, 'projectSession'>) {
  const { session, look } = projectSession
  const controller = useMemo(() => createChanges({ workspace: followed(session), run: { callTool: look } }), [session])
  useEffect(() => controller.close, [controller])
  return <Review controller={controller} disabled {...place} />
}

function Review({
  selected,
  onOpen,
  ...properties
}: Place & Pick<DiffProperties, 'controller' | 'view' | 'disabled' | 'drafts' | 'unsendable'>) {
  const { controller } = properties
  const paint = useSignal<Awaited<ReturnType<typeof loadPaint>>>(undefined)
  useLatest(
    loadPaint,
    (loaded) => {
      paint.value = loaded
    },
    [],
  )
  useEffect(() => {
    if (selected !== undefined) void controller.select(selected.path)
  }, [controller, selected])
  return (
    <WardspaceElement
      name="wardspace-diff"
      properties={{ ...properties, paint: paint.value }}
      events={{ 'wardspace-open-file': ({ detail }) => onOpen(detail.path) }}
    />
  )
}
