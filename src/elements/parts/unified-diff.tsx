import { scrollable } from './focusable.ts'
import { patchLines } from './patch-lines.ts'

/** Longer previews are cut. */
const MAX_LINES = 2_000

/** A patch with coloured lines and their numbers. */
export function UnifiedDiff({ text }: { readonly text: string }) {
  const lines = patchLines(text)
  return (
    <section class="box patch" aria-label="Preview of the change" {...scrollable}>
      {lines.slice(0, MAX_LINES).map(({ kind, text, numbers }, at) => (
        <div
          key={at}
          class={kind}
          data-line={numbers?.[1] ?? numbers?.[0]}
          data-lines={numbers?.map((one) => String(one ?? '').padStart(4)).join(' ')}
        >
          {text || ' '}
        </div>
      ))}
      {lines.length > MAX_LINES && <div class="muted">… {lines.length - MAX_LINES} more lines</div>}
    </section>
  )
}
