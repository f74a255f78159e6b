import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { contentOfVersion } from '../session/changes.ts'
import type { ProjectSession } from '../session/project-session.ts'
import { textOf } from '../session/text.ts'
import type { TimelineEntry } from '../session/types.ts'
import { scrollable } from '../ui/focusable.ts'

interface Found {
  readonly key: string
  /** What really stood there, of lines that were shown otherwise; undefined where that version is no longer known. */
  readonly hidden: readonly string[] | undefined
}

/** Where the model was shown a file: whether it saw all of the text that really stood there. */
export function RealFiles({
  projectSession,
  entry,
}: {
  readonly projectSession: ProjectSession
  readonly entry: TimelineEntry
}) {
  const found = useSignal<Found | undefined>(undefined)
  const seen = seenOf(entry)
  useEffect(() => {
    found.value = undefined
    if (seen === undefined) return
    const history = projectSession.session.workspace.value.history()
    void contentOfVersion(projectSession.project, history, seen.path, seen.sha256).then((bytes) => {
      found.value = { key: entry.key, hidden: bytes && hiddenIn(seen, bytes) }
    })
  }, [entry.key])
  if (seen === undefined || found.value?.key !== entry.key) return null
  const { hidden } = found.value
  return (
    <div>
      <h3 class="muted">The file itself, in that version</h3>
      {hidden === undefined ? (
        <p>That version is no longer kept here.</p>
      ) : hidden.length === 0 ? (
        <p>The model saw what stood there, line by line.</p>
      ) : (
        <>
          <p>The model saw marks in place of what these lines really held. Only you see them:</p>
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
  readonly sha256: string
  readonly content: string
  readonly startLine: number
  readonly endLine: number
}

function hiddenIn({ content, startLine, endLine }: SeenText, bytes: Uint8Array): readonly string[] {
  const lines = (textOf(bytes)?.text ?? '').split(/\r?\n/).slice(startLine - 1, endLine)
  const shown = content.split(/\r?\n/)
  return lines.filter((line, at) => shown[at] !== undefined && shown[at] !== line)
}

function seenOf({ tool, input, result }: TimelineEntry): SeenText | undefined {
  if (tool !== 'read_file' || result?.ok !== true) return undefined
  const { content, startLine, endLine, sha256 } = result as Record<string, unknown>
  const { path, lineNumbers } = input as { path?: unknown; lineNumbers?: unknown }
  if (typeof content !== 'string' || typeof path !== 'string' || path.startsWith('artifact:')) return undefined
  const text = lineNumbers === true ? content.replace(/^ *\d+ \| /gm, '') : content
  return { path, content: text, sha256: String(sha256), startLine: Number(startLine), endLine: Number(endLine) }
}
