import './editor.css'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Path } from 'wardspace'
import { IconButton } from '../../../src/elements/parts/icon-button.tsx'
import { sizeInWords } from '../../../src/elements/parts/size-words.ts'
import { type FilePart, partOfLine, partsOf, textOfPart } from '../../session/file-parts.ts'
import type { OpenFile } from '../../session/open-files.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { CodeText, type CodeTextProps } from './code-text.tsx'

export interface PartsViewProps extends Pick<CodeTextProps, 'goTo' | 'wraps' | 'find'> {
  readonly project: ProjectSession['project']
  readonly file: OpenFile
}

interface LargeFile {
  /** The version of the file that was read. */
  readonly loaded: number
  readonly bytes: Uint8Array
  /** Undefined if the file is not text. */
  readonly parts: readonly FilePart[] | undefined
}

/** Shows a file that is too large to edit, part by part, or says what a file is that is not text. */
export default function PartsView(props: PartsViewProps) {
  const { project, file } = props
  const large = useSignal<LargeFile | undefined>(undefined)
  useLatest(
    async () => {
      if (file.sha256 === undefined) return
      const { bytes } = await project.backend.read(file.path as Path)
      return { loaded: file.loaded, bytes, parts: await partsOf(bytes) }
    },
    (read) => {
      large.value = read
    },
    [file.path, file.sha256],
  )
  if (file.sha256 === undefined) return <p class="empty">This file no longer exists.</p>
  if (large.value === undefined) return <div class="skeleton" />
  const { bytes, loaded, parts } = large.value
  if (parts === undefined || parts.length === 0) {
    return <p class="empty">This file is not text ({sizeInWords(bytes.length)}).</p>
  }
  return <Parts {...props} bytes={bytes} loaded={loaded} parts={parts} />
}

function Parts({
  file,
  bytes,
  loaded,
  parts,
  goTo,
  ...options
}: PartsViewProps & LargeFile & { parts: readonly FilePart[] }) {
  const shown = useSignal(goTo === undefined ? 0 : partOfLine(parts, goTo.line))
  const jump = useSignal(goTo)
  useEffect(() => {
    if (goTo === undefined) return
    shown.value = partOfLine(parts, goTo.line)
    jump.value = goTo
  }, [goTo?.at])
  const at = Math.min(shown.value, parts.length - 1)
  const part = parts[at] as FilePart
  const { firstLine, breaks } = part
  const last = parts.at(-1) as FilePart
  const step = (by: number) => {
    shown.value = at + by
    jump.value = undefined
  }
  const goToLine = (event: Event & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    const line = Number(new FormData(event.currentTarget).get('line'))
    shown.value = partOfLine(parts, line)
    jump.value = { line, at: Date.now() }
  }
  const local = jump.value && { line: jump.value.line - firstLine + 1, at: jump.value.at }
  return (
    <div class="fill file-parts">
      <div class="bar">
        <span class="grow">
          {sizeInWords(bytes.length)}, shown in parts and not edited here. Lines {firstLine.toLocaleString()}–
          {(firstLine + Math.max(0, breaks - 1)).toLocaleString()} of {(last.firstLine + last.breaks).toLocaleString()}
        </span>
        <IconButton icon="up" label="Part before" disabled={at === 0} onClick={() => step(-1)} />
        <span class="muted number" role="status">
          Part {at + 1} of {parts.length}
        </span>
        <IconButton icon="down" label="Part after" disabled={at === parts.length - 1} onClick={() => step(1)} />
        <form onSubmit={goToLine}>
          <input class="field line-field" name="line" inputMode="numeric" aria-label="Go to line" placeholder="Line" />
        </form>
      </div>
      <div class="fill-rest">
        <CodeText
          {...options}
          key={at}
          path={file.path}
          label={`Text of ${file.path}, part ${at + 1} of ${parts.length}`}
          text={textOfPart(bytes, part)}
          loaded={loaded}
          firstLine={firstLine}
          readOnly
          goTo={local}
        />
      </div>
    </div>
  )
}
