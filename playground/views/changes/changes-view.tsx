import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { joinSentences } from 'wardspace/dialect'
import { changeOfFile, type FileChange } from '../../session/changes.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { Select } from '../../ui/select.tsx'
import { ChangeDiff, InlineSwitch } from './change-diff.tsx'
import { UnifiedDiff } from './unified-diff.tsx'

export interface ChangesViewProps {
  readonly projectSession: Pick<ProjectSession, 'changed' | 'session' | 'project' | 'look'>
  /** Path of the changed file that is shown. */
  readonly selected: ReadonlySignal<string | undefined>
  /** Whether differences are shown inline. */
  readonly inline: Signal<boolean>
}

/** The changes since the project was first opened here or, in a repository, since the last commit. */
export function ChangesView({ projectSession, selected, inline }: ChangesViewProps) {
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
        <SinceOpened projectSession={projectSession} selected={selected} inline={inline} />
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

function SinceOpened({ projectSession, selected, inline }: ChangesViewProps) {
  const changed = [...projectSession.changed.value].sort(([a], [b]) => (a < b ? -1 : 1))
  const at = Math.max(
    0,
    changed.findIndex(([path]) => path === selected.value),
  )
  const path = changed[at]?.[0]
  const change = useSignal<FileChange | undefined>(undefined)
  const revision = projectSession.session.revision.value
  useEffect(() => {
    let isStale = false
    if (path === undefined) change.value = undefined
    else {
      void changeOfFile(projectSession.project, projectSession.session.workspace.value, path).then((file) => {
        if (!isStale) change.value = file
      })
    }
    return () => {
      isStale = true
    }
  }, [path, revision])
  if (path === undefined) {
    return (
      <div class="empty">
        <p>Nothing has changed since the project was first opened here.</p>
      </div>
    )
  }
  return (
    <div class="fill">
      <div class="bar">
        <span class="grow">
          {changed.length === 1 ? '1 file differs' : `${changed.length} files differ`} from the project as it was first
          opened here
        </span>
        <InlineSwitch inline={inline} />
      </div>
      <div class="fill-rest">
        {change.value?.path === path && <ChangeDiff change={change.value} inline={inline.value} />}
      </div>
    </div>
  )
}
