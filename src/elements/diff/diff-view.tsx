import type { ChangedFile } from '../../ui/changes.ts'
import type { ViewContext } from '../define-element.ts'
import { UnifiedDiff } from '../parts/unified-diff.tsx'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { DiffProperties } from '../properties.ts'
import styles from './diff.css?inline'

export { styles }

const marks: Readonly<Record<ChangedFile['status'], string>> = {
  added: 'A',
  modified: 'M',
  deleted: 'D',
  renamed: 'R',
}

/** The changed files, and the difference of one. */
export function View({ controller, dispatch }: DiffProperties & ViewContext) {
  const { files, selected, patch, trouble } = useSnapshot(controller)
  const file = files.find(({ path }) => path === selected)
  return (
    <section class="fill" aria-label="Changes">
      {trouble !== undefined && <p class="notice bad">{trouble}</p>}
      {files.length === 0 && trouble === undefined && <p class="empty">Nothing has changed yet.</p>}
      <ul class="files" aria-label="Changed files">
        {files.map(({ path, status, insertions, deletions }) => (
          <li key={path}>
            <button
              type="button"
              class="button quiet file"
              aria-current={path === selected ? 'true' : undefined}
              onClick={() => void controller.select(path)}
            >
              <span class={`mark ${status}`} title={status}>
                {marks[status]}
              </span>
              <span class="cut grow">{path}</span>
              <span class="number plus" title={`${insertions} lines added`}>
                +{insertions}
              </span>
              <span class="number minus" title={`${deletions} lines deleted`}>
                −{deletions}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {file !== undefined && (
        <div class="fill">
          <div class="bar">
            <strong class="mono cut grow">{file.path}</strong>
            {file.status !== 'deleted' && (
              <button type="button" class="button" onClick={() => dispatch('wardspace-open-file', { path: file.path })}>
                Open the file
              </button>
            )}
          </div>
          {patch !== undefined && <UnifiedDiff text={patch} />}
        </div>
      )}
    </section>
  )
}
