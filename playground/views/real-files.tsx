import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Path } from 'wardspace'
import type { Desk } from '../session/desk.ts'
import { textOf } from '../session/text.ts'
import type { TimelineEntry } from '../session/types.ts'
import { scrollable } from '../ui/focusable.ts'

/** Where the model was shown a file: whether it saw all of the text that really stands there. */
export function RealFiles({ desk, entry }: { readonly desk: Desk; readonly entry: TimelineEntry }) {
  const found = useSignal<
    { readonly key: string; readonly hidden: readonly string[]; readonly same: boolean } | undefined
  >(undefined)
  const seen = seenOf(entry)
  useEffect(() => {
    found.value = undefined
    if (seen === undefined) return
    void desk.project.backend.read(seen.path as Path).then(
      ({ bytes }) => {
        const lines = (textOf(bytes)?.text ?? '').split(/\r?\n/).slice(seen.startLine - 1, seen.endLine)
        const shown = seen.content.split(/\r?\n/)
        const hidden = lines.filter((line, at) => shown[at] !== undefined && shown[at] !== line)
        found.value = { key: entry.key, hidden, same: hidden.length === 0 }
      },
      () => {},
    )
  }, [entry.key])
  if (seen === undefined || found.value?.key !== entry.key) return null
  const { hidden, same } = found.value
  return (
    <div>
      <h4 class="muted">The file itself</h4>
      {same ? (
        <p>The lines that it was shown are the lines that stand there.</p>
      ) : (
        <>
          <p>
            These lines stand there now, and were shown otherwise: secrets are marks, or the file has changed since.
          </p>
          <pre class="box" {...scrollable}>
            {hidden.join('\n')}
          </pre>
        </>
      )}
    </div>
  )
}

interface SeenText {
  readonly path: string
  readonly content: string
  readonly startLine: number
  readonly endLine: number
}

function seenOf({ tool, input, result }: TimelineEntry): SeenText | undefined {
  if (tool !== 'read_file' || result?.ok !== true) return undefined
  const { content, startLine, endLine } = result as Record<string, unknown>
  const { path, lineNumbers } = input as { path?: unknown; lineNumbers?: unknown }
  if (typeof content !== 'string' || typeof path !== 'string' || path.startsWith('artifact:')) return undefined
  const text = lineNumbers === true ? content.replace(/^ *\d+ \| /gm, '') : content
  return { path, content: text, startLine: Number(startLine), endLine: Number(endLine) }
}
