import {
  checkArgument,
  checkOptions,
  isBoolean,
  isObjectWith,
  type OptionTable,
  refuseSurplus,
} from '../util/check-options.ts'

/** A file of the person's machine that goes with a message. */
export type Attachment =
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  /** An image or a PDF document. `data` is a data address. */
  | { readonly kind: 'image' | 'document'; readonly name: string; readonly mediaType: string; readonly data: string }

const MAX_TEXT_BYTES = 300_000
const MAX_IMAGE_MEGABYTES = 5
const MAX_DOCUMENT_MEGABYTES = 10
const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])

/** Options of {@link readAttachment}: what the model takes. */
interface AttachmentOptions {
  readonly images?: boolean
  readonly documents?: boolean
}

const optionTable: OptionTable<AttachmentOptions> = { images: isBoolean, documents: isBoolean }

/**
 * Reads a file to go with a message: UTF-8 text of up to 300 KB; if the model takes images, a PNG, JPEG, WebP or GIF of up to 5 MB;
 * if it takes documents, a PDF of up to 10 MB.
 *
 * @throws Error in a person's words for any other file; TypeError for an unknown or wrong option
 */
export async function readAttachment(
  file: File,
  requested: { readonly images?: boolean; readonly documents?: boolean } = {},
): Promise<Attachment> {
  refuseSurplus('readAttachment()', 2, arguments)
  checkArgument('readAttachment()', 'file', file, isObjectWith('a File', 'arrayBuffer'))
  const options = checkOptions<AttachmentOptions>('readAttachment()', requested, optionTable)
  const { name, type, size } = file
  const refuse = (reason: string): never => {
    throw new Error(`Cannot attach “${name}”: ${reason}.`)
  }
  const kind = type === 'application/pdf' ? 'document' : imageTypes.has(type) ? 'image' : undefined
  if (kind !== undefined) {
    const [plural, isTaken, megabytes] =
      kind === 'image'
        ? ['images', options.images, MAX_IMAGE_MEGABYTES]
        : ['PDF documents', options.documents, MAX_DOCUMENT_MEGABYTES]
    if (!isTaken) refuse(`this model takes no ${plural}. Choose another one, or change this in the settings`)
    if (size > megabytes * 1_000_000) refuse(`${plural} may have ${megabytes} MB`)
    return { kind, name, mediaType: type, data: await dataAddressOf(file) }
  }
  if (size > MAX_TEXT_BYTES) refuse('it has more than 300 KB. Put it into the project and name it with @')
  const text = textOf(await file.arrayBuffer()) ?? refuse('it is no text, no image and no PDF document')
  return { kind: 'text', name, text }
}

function textOf(bytes: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

function dataAddressOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}
