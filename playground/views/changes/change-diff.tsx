import type { Signal } from '@preact/signals'
import type { FileChange } from '../../session/changes.ts'
import { textOf } from '../../session/text.ts'
import { lazyView } from '../../ui/lazy-view.tsx'

const CodeDiff = lazyView(async () => (await import('../editor/code-text.tsx')).CodeDiff)

/** Shows one file before and after. */
export function ChangeDiff({ change, inline }: { readonly change: FileChange; readonly inline: boolean }) {
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
    <CodeDiff
      key={`${change.path} ${inline}`}
      path={change.path}
      before={before.text}
      after={after.text}
      inline={inline}
    />
  )
}

/** Chooses between one column and two. */
export function InlineSwitch({ inline }: { readonly inline: Signal<boolean> }) {
  return (
    <fieldset class="row" aria-label="Layout of differences" style={{ gap: 0 }}>
      {[false, true].map((isInline) => (
        <button
          key={String(isInline)}
          type="button"
          class="button"
          aria-pressed={inline.value === isInline}
          onClick={() => {
            inline.value = isInline
          }}
        >
          {isInline ? 'Inline' : 'Side by side'}
        </button>
      ))}
    </fieldset>
  )
}
