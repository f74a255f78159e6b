import { type Check, isListOf, isOneOf, must } from '../../util/check-options.ts'

/** The types of files that a result can carry as media. What a file is, its bytes say, and never its name. */
export const mediaTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf'] as const

/** A type of a file that a result can carry as media. */
export type MediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'application/pdf'

/** The media that a caller takes: all types, some, or none. */
export type TakenMedia = boolean | readonly MediaType[]

/** Whether a caller takes a type of media. */
export function takesMedia(taken: TakenMedia | undefined, type: MediaType): boolean {
  return typeof taken === 'object' ? taken.includes(type) : taken === true
}

/** The check of {@link TakenMedia}, for a caller that can take no other types than these. */
export function isTakenMedia(types: readonly MediaType[] = mediaTypes): Check {
  const list = isListOf(isOneOf(...types))
  const isSwitch = must(`true, false or a list of ${types.join(', ')}`, (value) => typeof value === 'boolean')
  return (value, ...at) => (Array.isArray(value) ? list : isSwitch)(value, ...at)
}
