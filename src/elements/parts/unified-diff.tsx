import { scrollable } from './focusable.ts'

/** Longer previews are cut. */
const MAX_LINES = 2_000

/** A patch with coloured lines. */
export function UnifiedDiff({ text }: { readonly text: string }) {
  const lines = text.replace(/\n$/, '').split('\n')
  return (
    <section class="box patch" aria-label="Preview of the change" {...scrollable}>
      {lines.slice(0, MAX_LINES).map((line, at) => (
        <div key={at} class={kindOf(line)}>
          {line || ' '}
        </div>
      ))}
      {lines.length > MAX_LINES && <div class="muted">… {lines.length - MAX_LINES} more lines</div>}
    </section>
  )
}

function kindOf(line: string): string {
  if (/^(diff|index|---|\+\+\+|new file|deleted file|rename|similarity|old mode|new mode)/.test(line)) return 'head'
  if (line.startsWith('@@')) return 'hunk'
  if (line.startsWith('+')) return 'plus'
  return line.startsWith('-') ? 'minus' : ''
}
