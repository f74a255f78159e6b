import './editor.css'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Path } from 'wardspace'
import { IconButton } from '../../../src/elements/parts/icon-button.tsx'
import { Select } from '../../../src/elements/parts/select.tsx'
import { sizeInWords } from '../../../src/elements/parts/size-words.ts'
import {
  type Encoding,
  encodings,
  type FilePart,
  isUtf8,
  partOfLine,
  partsOf,
  textOfPart,
  toUtf8,
} from '../../session/file-parts.ts'
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
  /** The text as UTF-8. */
  readonly bytes: Uint8Array
  /** The chosen encoding of a file that is not UTF-8. */
  readonly encoding: Encoding | undefined
  /** Undefined if the file is not text. */
  readonly parts: readonly FilePart[] | undefined
}

/** Shows a file that is not edited here, part by part: one that is too large or not UTF-8. Says of others that they are no text. */
export default function PartsView(props: PartsViewProps) {
  const { project, file } = props
  const chosen = useSignal<Encoding>('windows-1252')
  const large = useSignal<LargeFile | undefined>(undefined)
  useLatest(
    async () => {
      if (file.sha256 === undefined) return
      const { bytes } = await project.backend.read(file.path as Path)
      const encoding = (await isUtf8(bytes)) ? undefined : chosen.value
      const text = encoding === undefined ? bytes : toUtf8(bytes, encoding)
      return { loaded: file.loaded, bytes: text, encoding, parts: await partsOf(text) }
    },
    (read) => {
      large.value = read
    },
    [file.path, file.sha256, chosen.value],
  )
  if (file.sha256 === undefined) return <p class="empty">This file no longer exists.</p>
  if (large.value === undefined) return <div class="skeleton" />
  const { bytes, loaded, encoding, parts } = large.value
  if (parts === undefined || parts.length === 0) {
    return <p class="empty">This file is not text ({sizeInWords(bytes.length)}).</p>
  }
  const text = <Parts {...props} key={encoding} bytes={bytes} loaded={loaded} encoding={encoding} parts={parts} />
  if (encoding === undefined) return text
  return (
    <div class="fill">
      <div class="bar">
        <span class="grow">This file is not UTF-8. It is shown to read, and its bytes stay as they are.</span>
        <Select
          label="Encoding"
          value={encoding}
          options={Object.entries(encodings).map(([value, label]) => ({ value: value as Encoding, label }))}
          onChange={(value) => {
            chosen.value = value
          }}
        />
      </div>
      {text}
    </div>
  )
}

function Parts({
  file,
  bytes,
  loaded,
  encoding,
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
          {encoding === undefined && `${sizeInWords(bytes.length)}, shown in parts and not edited here. `}Lines{' '}
          {firstLine.toLocaleString()}–{(firstLine + Math.max(0, breaks - 1)).toLocaleString()} of{' '}
          {(last.firstLine + last.breaks).toLocaleString()}
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
