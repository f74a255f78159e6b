/** A file of the person's machine that goes with a message. */
export type Attachment =
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  /** `data` is a data address. */
  | { readonly kind: 'image'; readonly name: string; readonly mediaType: string; readonly data: string }

const MAX_TEXT_BYTES = 300_000
const MAX_IMAGE_BYTES = 5_000_000
const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])

/**
 * Reads a file to go with a message: UTF-8 text of up to 300 KB or, if the model takes images, a PNG, JPEG, WebP or GIF of up to 5 MB.
 *
 * @throws Error in a person's words for any other file
 */
export async function readAttachment(file: File, options: { readonly images?: boolean } = {}): Promise<Attachment> {
  const { name, type, size } = file
  if (imageTypes.has(type)) {
    if (options.images !== true) {
      throw new Error(
        `Cannot attach “${name}”: this model takes no images. Choose another one, or change this in the settings.`,
      )
    }
    if (size > MAX_IMAGE_BYTES) throw new Error(`Cannot attach “${name}”: images may have 5 MB.`)
    return { kind: 'image', name, mediaType: type, data: await dataAddressOf(file) }
  }
  if (size > MAX_TEXT_BYTES) {
    throw new Error(`Cannot attach “${name}”: it has more than 300 KB. Put it into the project and name it with @.`)
  }
  const text = textOf(await file.arrayBuffer())
  if (text === undefined) throw new Error(`Cannot attach “${name}”: it is neither a text nor an image.`)
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
