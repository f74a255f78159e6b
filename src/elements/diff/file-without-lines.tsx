import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ReviewedFile } from '../../ui/changes.ts'
import { ownValue } from '../../util/own-value.ts'
import { sizeInWords } from '../parts/size-words.ts'

const imageTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
}

/** What files are, by their extensions. */
const kinds: readonly (readonly [kind: string, extensions: RegExp])[] = [
  ['A PDF document', /^pdf$/],
  ['An archive', /^(zip|gz|tgz|tar|bz2|xz|zst|7z|jar|whl)$/],
  ['A font', /^(woff2?|ttf|otf|eot)$/],
  ['A sound', /^(mp3|wav|ogg|flac|m4a)$/],
  ['A video', /^(mp4|webm|mov|avi|mkv)$/],
  ['A WebAssembly module', /^wasm$/],
  ['A database', /^(sqlite3?|db)$/],
  ['A document', /^(docx?|xlsx?|pptx?|od[tsp])$/],
]

/** A file without lines to compare: what it is, its sizes and, of an image, both states. */
export function FileWithoutLines({ file }: { readonly file: ReviewedFile }) {
  const { path, bytes, data } = file
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  const type = ownValue(imageTypes, extension)
  const kind = type === undefined ? kinds.find(([, extensions]) => extensions.test(extension))?.[0] : 'An image'
  const isLarge = bytes !== undefined && data === undefined
  return (
    <div class="fill-rest scroll no-lines">
      <p>
        {isLarge
          ? 'This file is too large to be compared here.'
          : `${kind ?? 'A binary file'}. It has no lines to compare.`}
      </p>
      {bytes !== undefined && (
        <div class="both-states">
          <State title="Before" size={bytes[0]} data={data?.[0]} type={type} />
          <State title="Now" size={bytes[1]} data={data?.[1]} type={type} />
        </div>
      )}
    </div>
  )
}

interface StateProps {
  readonly title: string
  readonly size: number | null
  readonly data: Uint8Array | null | undefined
  /** The media type of an image. */
  readonly type: string | undefined
}

function State({ title, size, data, type }: StateProps) {
  const [pixels, setPixels] = useState('')
  const [failed, setFailed] = useState<string | undefined>()
  const address = useMemo(() => {
    if (!data || type === undefined) return undefined
    return URL.createObjectURL(new Blob([data as Uint8Array<ArrayBuffer>], { type }))
  }, [data, type])
  useEffect(() => () => URL.revokeObjectURL(address ?? ''), [address])
  const hasFailed = address !== undefined && failed === address
  return (
    <figure>
      <figcaption>
        <strong>{title}</strong>{' '}
        <span class="muted number">
          {size === null ? 'no file' : exactSize(size)}
          {pixels !== '' && !hasFailed && `, ${pixels}`}
        </span>
      </figcaption>
      {address !== undefined && !hasFailed && (
        <img
          src={address}
          alt={title}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setPixels(`${naturalWidth} × ${naturalHeight} pixels`)
          }
          onError={() => setFailed(address)}
        />
      )}
      {hasFailed && <p class="muted small">The browser cannot show this image.</p>}
    </figure>
  )
}

/** A size as a person says it, with the exact number of bytes. */
function exactSize(size: number): string {
  return size < 1_000 ? sizeInWords(size) : `${sizeInWords(size)} (${size.toLocaleString('en')} bytes)`
}
