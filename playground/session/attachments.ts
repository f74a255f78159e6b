import { textOf } from './text.ts'

/** A file of the person's machine that goes with a message. */
export type Attachment =
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  /** `data` is a data address. */
  | { readonly kind: 'image'; readonly name: string; readonly mediaType: string; readonly data: string }

const MAX_TEXT_BYTES = 300_000
const MAX_IMAGE_BYTES = 5_000_000
const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])

/**
 * Reads a file to go with a message.
 *
 * @throws Error in a person's words if the model does not take it
 */
export async function readAttachment(file: File, takesImages: boolean): Promise<Attachment> {
  const { name, type, size } = file
  if (imageTypes.has(type)) {
    if (!takesImages) {
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
  const decoded = textOf(new Uint8Array(await file.arrayBuffer()))
  if (decoded === undefined) throw new Error(`Cannot attach “${name}”: it is neither a text nor an image.`)
  return { kind: 'text', name, text: decoded.text }
}

function dataAddressOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}
