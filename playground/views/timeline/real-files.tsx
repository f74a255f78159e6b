import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { TimelineEntry } from 'wardspace/ui'
import { scrollable } from '../../../src/elements/parts/focusable.ts'
import { contentOfVersion } from '../../session/changes.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { textOf } from '../../session/text.ts'

interface Comparison {
  readonly key: string
  /** The real content of lines that the model saw differently. Undefined if that version is no longer available. */
  readonly hidden: readonly string[] | undefined
}

/** For calls that showed a file to the model: compares the shown text with the real file. */
export function RealFiles({
  projectSession,
  entry,
}: {
  readonly projectSession: Pick<ProjectSession, 'session' | 'project'>
  readonly entry: TimelineEntry
}) {
  const comparison = useSignal<Comparison | undefined>(undefined)
  const seen = seenOf(entry)
  useEffect(() => {
    comparison.value = undefined
    if (seen === undefined) return
    const history = projectSession.session.workspace.value.history()
    void contentOfVersion(projectSession.project, history, seen.path, seen.sha256).then((bytes) => {
      comparison.value = { key: entry.key, hidden: bytes && hiddenIn(seen, bytes) }
    })
  }, [entry.key])
  if (seen === undefined || comparison.value?.key !== entry.key) return null
  const { hidden } = comparison.value
  return (
    <div>
      <h3 class="muted">The real file in that version</h3>
      {hidden === undefined ? (
        <p>That version is no longer available.</p>
      ) : hidden.length === 0 ? (
        <p>The model saw every line unchanged.</p>
      ) : (
        <>
          <p>The model saw marks instead of the real content of these lines, which only you see:</p>
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
  const seen = content.split(/\r?\n/)
  return lines.filter((line, at) => seen[at] !== undefined && seen[at] !== line)
}

function seenOf({ tool, input, result }: TimelineEntry): SeenText | undefined {
  if (tool !== 'read_file' || result?.ok !== true) return undefined
  const { content, startLine, endLine, sha256 } = result as Record<string, unknown>
  const { path, lineNumbers } = input as { path?: unknown; lineNumbers?: unknown }
  if (typeof content !== 'string' || typeof path !== 'string' || path.startsWith('artifact:')) return undefined
  const text = lineNumbers === true ? content.replace(/^ *\d+ \| /gm, '') : content
  return { path, content: text, sha256: String(sha256), startLine: Number(startLine), endLine: Number(endLine) }
}
