import { isDialectResult } from '../../dialects/runtime/types.ts'
import { isTakenMedia, type MediaType, mediaTypes, type TakenMedia, takesMedia } from '../../files/media/types.ts'
import type { Check } from '../../util/check-options.ts'
import type { CallResult } from './select-tools.ts'

/** The media that the model takes. */
export interface MediaOptions {
  /**
   * The images and documents that the model takes: `true` for PNG, JPEG, GIF, WebP and PDF as far as the API of this adapter
   * carries them, or a list of types such as `image/png`. The model then gets what `read_file` reads of them; a file of any other
   * type is refused as binary. A model without vision fails on an image, also in later requests. Default: none.
   */
  readonly media?: TakenMedia
}

/** An image or document in a result. */
export interface ModelMedia {
  readonly mimeType: MediaType
  /** Base64. */
  readonly data: string
  /** The name of the file, without its directory. */
  readonly name: string
}

/** Returns the check of the option for an API that carries these types. */
export function mediaCheck(types: readonly MediaType[] = mediaTypes): { readonly media: Check } {
  return { media: isTakenMedia(types) }
}

/** Returns the types that a model takes through an API that carries `carried`. */
export function takenTypes(
  media: TakenMedia | undefined,
  carried: readonly MediaType[] = mediaTypes,
): { readonly media?: readonly MediaType[] } {
  if (media === undefined || media === false) return {}
  return { media: media === true ? carried : media }
}

/** Returns the media of a result that the model takes. */
export function mediaOf(result: CallResult, taken: TakenMedia | undefined): readonly ModelMedia[] {
  if (taken === undefined || taken === false) return []
  return allMedia(result).filter(({ mimeType }) => takesMedia(taken, mimeType))
}

function allMedia(result: CallResult): readonly ModelMedia[] {
  if (isDialectResult(result)) return result.content.flatMap((block) => mediaOfBlock(block as Block))
  if (!result.ok) return []
  const { path, media } = result as { readonly path?: unknown; readonly media?: unknown }
  const { mimeType, data } = Object(media) as Readonly<Record<string, unknown>>
  return mediaOfBlock({ mimeType, data, uri: path })
}

interface Block {
  readonly mimeType?: unknown
  readonly data?: unknown
  readonly blob?: unknown
  readonly uri?: unknown
  readonly resource?: Block
}

function mediaOfBlock({ resource, mimeType, data, blob = data, uri = '' }: Block): readonly ModelMedia[] {
  if (resource !== undefined) return mediaOfBlock(resource)
  const type = mediaTypes.find((known) => known === mimeType)
  if (type === undefined || typeof blob !== 'string' || blob === '') return []
  const name = String(uri).replace(/^.*\//s, '')
  return [{ mimeType: type, data: blob, name: name === '' ? `file.${type.replace(/^.*\//, '')}` : name }]
}

/** Returns what a result says about its media, without their data. */
export function describedMedia(media: unknown): Record<string, unknown> {
  const { data: _, ...described } = Object(media) as Record<string, unknown>
  return described
}

/** Whether media are an image, and not a document. */
export function isImage({ mimeType }: Pick<ModelMedia, 'mimeType'>): boolean {
  return mimeType.startsWith('image/')
}
