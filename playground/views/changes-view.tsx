import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { joinSentences } from 'wardspace/dialect'
import { changeOfFile, type FileChange } from '../session/changes.ts'
import type { ProjectSession } from '../session/project-session.ts'
import { textOf } from '../session/text.ts'
import { lazyView } from '../ui/lazy-view.tsx'
import { VirtualList } from '../ui/virtual-list.tsx'
import { page } from './page-state.ts'
import { UnifiedDiff } from './unified-diff.tsx'

const DiffEditor = lazyView(async () => (await import('./diff-editor.tsx')).default)

/** The changes since the project was first opened here or, in a repository, since the last commit. */
export function ChangesView({ projectSession }: { readonly projectSession: ProjectSession }) {
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
          <label for="changes-base">Compared with</label>
          <select
            id="changes-base"
            value={sinceCommit.value ? 'commit' : 'opened'}
            onChange={({ currentTarget }) => {
              sinceCommit.value = currentTarget.value === 'commit'
            }}
          >
            <option value="opened">the project as it was first opened here</option>
            <option value="commit">the last commit</option>
          </select>
        </div>
      )}
      {sinceCommit.value ? (
        <SinceCommit projectSession={projectSession} />
      ) : (
        <SinceOpened projectSession={projectSession} />
      )}
    </div>
  )
}

/** The patch from the last commit to the current files, as git would show it, without secrets. */
function SinceCommit({ projectSession }: { readonly projectSession: ProjectSession }) {
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

function SinceOpened({ projectSession }: { readonly projectSession: ProjectSession }) {
  const changed = [...projectSession.changed.value].sort(([a], [b]) => (a < b ? -1 : 1))
  const at = Math.max(
    0,
    changed.findIndex(([path]) => path === page.change.value),
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
        <InlineSwitch />
      </div>
      <div class="changed-files" style={{ height: `${Math.min(changed.length, 6) * 22 + 1}px` }}>
        <VirtualList
          label="Changed files"
          name="changed"
          count={changed.length}
          rowHeight={22}
          active={at}
          onActive={(row) => {
            page.change.value = changed[row]?.[0]
          }}
          onOpen={() => {}}
          row={(row) => {
            const [name = '', status = 'changed'] = changed[row] ?? []
            return (
              <>
                <span class={`tree-mark ${status}`} aria-hidden="true">
                  {status === 'added' ? 'A' : status === 'deleted' ? 'D' : 'M'}
                </span>
                <span class="mono cut">{name}</span>
                <span class="visually-hidden">, {status}</span>
              </>
            )
          }}
        />
      </div>
      <div class="fill-rest">{change.value?.path === path && <ChangeDiff change={change.value} />}</div>
    </div>
  )
}

/** Shows one file before and after. */
export function ChangeDiff({ change }: { readonly change: FileChange }) {
  const before = change.before === undefined ? { text: '' } : textOf(change.before)
  const after = change.after === undefined ? { text: '' } : textOf(change.after)
  if (before === undefined || after === undefined) {
    return (
      <div class="empty">
        <p>
          {change.path} is not a text file: {change.before?.length ?? 0} bytes before, {change.after?.length ?? 0}{' '}
          after.
        </p>
      </div>
    )
  }
  return (
    <DiffEditor
      key={`${change.path} ${page.inline.value}`}
      path={change.path}
      before={before.text}
      after={after.text}
      inline={page.inline.value}
    />
  )
}

export function InlineSwitch() {
  return (
    <fieldset class="row" aria-label="Layout of differences" style={{ gap: 0 }}>
      {[false, true].map((inline) => (
        <button
          key={String(inline)}
          type="button"
          class="button"
          aria-pressed={page.inline.value === inline}
          onClick={() => {
            page.inline.value = inline
          }}
        >
          {inline ? 'Inline' : 'Side by side'}
        </button>
      ))}
    </fieldset>
  )
}
