import '../../../src/elements/parts/markdown.css'
import './preview.css'
import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Path } from 'wardspace'
import { Markdown } from '../../../src/elements/parts/markdown.tsx'
import { counted } from '../../../src/util/counted.ts'
import type { FromPreview, ToPreview } from '../../preview/messages.ts'
import type { OpenFile } from '../../session/open-files.ts'
import { mediaTypeOf, type PreviewKind } from '../../session/preview-kind.ts'
import { previewPage, type ReadFile, resolvePath } from '../../session/preview-page.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { useLatest } from '../../ui/use-latest.ts'

export interface PreviewViewProps {
  readonly projectSession: Pick<ProjectSession, 'files' | 'session' | 'project'>
  readonly file: OpenFile
  readonly kind: PreviewKind
  readonly onOpen: (path: string) => void
}

/** Shows a file as what it is: a page, formatted text, an image or a document. */
export default function PreviewView(props: PreviewViewProps) {
  const { kind, file } = props
  switch (kind) {
    case 'markdown':
      return (
        <div class="scroll preview-text">
          <Markdown text={file.draft ?? file.base?.text ?? ''} top={1} />
        </div>
      )
    case 'image':
      return <ImagePreview {...props} />
    case 'html':
      return <PagePreview {...props} />
    case 'pdf':
      return <PdfPreview {...props} />
  }
}

/** Returns a function that reads files as the person has them: with text that is not saved. */
function useReading({ projectSession }: PreviewViewProps): ReadFile {
  const { files, project } = projectSession
  return async (path) => {
    const draft = files.all.peek().find((file) => file.path === path)?.draft
    if (draft !== undefined) return new TextEncoder().encode(draft)
    const stat = await project.backend.stat(path as Path).catch(() => undefined)
    return stat?.type === 'file' ? (await project.backend.read(path as Path)).bytes : undefined
  }
}

function ImagePreview(props: PreviewViewProps) {
  const { file } = props
  const read = useReading(props)
  const url = useSignal<string | undefined>(undefined)
  const size = useSignal('')
  const hasFailed = useSignal(false)
  useLatest(
    () => read(file.path),
    (bytes) => {
      if (bytes === undefined) return
      const blob = new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mediaTypeOf(file.path) })
      url.value = URL.createObjectURL(blob)
      hasFailed.value = false
    },
    [file.path, file.sha256, file.draft],
  )
  useEffect(() => () => URL.revokeObjectURL(url.peek() ?? ''), [url.value])
  if (hasFailed.value) return <p class="empty">This file is not an image that the browser can show.</p>
  return (
    <figure class="fill preview-image">
      {url.value !== undefined && (
        <img
          src={url.value}
          alt={file.path}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
            size.value = `${naturalWidth} × ${naturalHeight} pixels`
          }}
          onError={() => {
            hasFailed.value = true
          }}
        />
      )}
      <figcaption class="muted number">{size.value}</figcaption>
    </figure>
  )
}

/** Milliseconds that typing rests before the page is built again. */
const PAUSE = 300

function PagePreview(props: PreviewViewProps) {
  const { projectSession, file, onOpen } = props
  const read = useReading(props)
  const problems = useSignal<readonly string[]>([])
  const message = useSignal<ToPreview | undefined>(undefined)
  const { revision } = projectSession.session
  const drafts = projectSession.files.all.value
  useEffect(() => {
    let isOutdated = false
    const timer = setTimeout(async () => {
      problems.value = []
      try {
        const source = new TextDecoder().decode((await read(file.path)) ?? new Uint8Array())
        const html = await previewPage(file.path, source, read)
        if (!isOutdated) message.value = { kind: 'html', html }
      } catch (error) {
        if (!isOutdated) problems.value = [error instanceof Error ? error.message : String(error)]
      }
    }, PAUSE)
    return () => {
      isOutdated = true
      clearTimeout(timer)
    }
  }, [file.path, revision.value, drafts])
  const onMessage = (sent: FromPreview) => {
    if (sent.kind === 'problem') problems.value = [...problems.value, sent.text].slice(-20)
    if (sent.kind !== 'link') return
    const path = resolvePath(sent.text, file.path)
    if (path === undefined) problems.value = [...problems.value, `The preview does not leave the project: ${sent.text}`]
    else onOpen(path)
  }
  return (
    <div class="fill preview-page">
      <Frame title={`Preview of ${file.path}`} message={message.value} onMessage={onMessage} />
      {problems.value.length > 0 && (
        <details class="preview-problems">
          <summary>
            <span role="status">
              {counted(problems.value.length, 'problem')}: {problems.value.at(-1)}
            </span>
          </summary>
          <ul>
            {problems.value.map((problem) => (
              <li key={problem}>{problem}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}

function PdfPreview(props: PreviewViewProps) {
  const { file } = props
  const read = useReading(props)
  const message = useSignal<ToPreview | undefined>(undefined)
  const canShow = useMemo(() => navigator.pdfViewerEnabled, [])
  useLatest(
    () => read(file.path),
    (bytes) => {
      message.value = bytes && { kind: 'pdf', bytes }
    },
    [file.path, file.sha256],
  )
  if (canShow) return <Frame title={`Preview of ${file.path}`} message={message.value} onMessage={() => {}} />
  const save = async () => {
    const bytes = await read(file.path)
    const { download } = await import('../../projects/download.ts')
    const name = file.path.slice(file.path.lastIndexOf('/') + 1)
    if (bytes !== undefined) download(name, new Blob([bytes as Uint8Array<ArrayBuffer>], { type: 'application/pdf' }))
  }
  return (
    <div class="empty">
      <p>This browser does not show PDF files in a page.</p>
      <button type="button" class="button" onClick={() => void save()}>
        Download {file.path}
      </button>
    </div>
  )
}

interface FrameProps {
  readonly title: string
  readonly message: ToPreview | undefined
  readonly onMessage: (message: FromPreview) => void
}

/** The frame of the preview, which gets a message whenever it changes. */
function Frame({ title, message, onMessage }: FrameProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const isReady = useSignal(false)
  const listener = useRef(onMessage)
  listener.current = onMessage
  // Before the frame can load: it says only once that it is ready.
  useLayoutEffect(() => {
    const onSent = ({ data, source, origin }: MessageEvent) => {
      if (source !== frame.current?.contentWindow || origin !== location.origin) return
      const sent = data as FromPreview
      if (sent.kind === 'ready') isReady.value = true
      else listener.current(sent)
    }
    addEventListener('message', onSent)
    return () => removeEventListener('message', onSent)
  }, [])
  useEffect(() => {
    if (isReady.value && message !== undefined) frame.current?.contentWindow?.postMessage(message, location.origin)
  }, [isReady.value, message])
  return <iframe ref={frame} class="preview-frame" title={title} src={new URL('preview.html', document.baseURI).href} />
}
