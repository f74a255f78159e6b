/**
 * Returns the name that Windows and HFS+ store for a name: without code points that HFS+ ignores, without trailing dots
 * and spaces, and with an 8.3 short name (`git~1`) expanded by `expandShort`. A device name becomes `\\.\NAME`, which is
 * not a valid name. Returns the same string if nothing changes. Keeps letter case.
 */
export function alterName(name: string, expandShort: (shortName: string) => string | undefined): string {
  const device = DEVICE.exec(name)
  if (device !== null) return `\\\\.\\${(device[1] as string).toUpperCase()}`
  const stored = trimEnd(name.replace(HFS_IGNORABLE, ''))
  return expandShort(stored) ?? stored
}

/** Whether {@link alterName} may change a name of the path. Cheap; never gives a false negative. */
export function mayBeAltered(path: string): boolean {
  return ALTERABLE.test(path)
}

/**
 * Folds a name as the most lenient file system compares it: without ignorable code points, in NFC, in one case (`ß` is
 * `ss`, the Kelvin sign is `k`). Compatibility forms such as full-width letters stay different names.
 */
export function foldName(name: string): string {
  if (!NON_ASCII.test(name)) return name.toLowerCase()
  return name.replace(IGNORABLE, '').normalize('NFC').toUpperCase().toLowerCase()
}

/** Whether a name is ASCII without characters that {@link alterName} or a backup suffix could change. */
export function isPlainName(name: string): boolean {
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) > LAST_PLAIN) return false
  return !isTrimmed(name.charCodeAt(name.length - 1))
}

/** `}`, the last character before `~` and non-ASCII. */
export const LAST_PLAIN = 0x7d

/** Whether Windows drops a unit at the end of a name: a dot or a space. */
export function isTrimmed(unit: number): boolean {
  return unit === 0x2e || unit === 0x20
}

/** Returns the key of the 8.3 short names that NTFS may create for a long name: first letters, `~` and extension. */
export function shortNameKey(longName: string): string {
  const name = longName.toLowerCase().replace(/^[. ]+/, '')
  const dot = name.lastIndexOf('.')
  const base = dot === -1 ? name : name.slice(0, dot)
  const extension = dot === -1 ? '' : name.slice(dot + 1, dot + 4)
  return `${base.replace(/[. ]/g, '').slice(0, 6)}~${extension}`
}

/** Parses a short name such as `GIT~1` or `ENV~1.LOC` into the parts of its {@link shortNameKey}, or returns `undefined`. */
export function parseShortName(name: string): { readonly stem: string; readonly extension: string } | undefined {
  const parts = SHORT_NAME.exec(name)
  return parts === null ? undefined : { stem: foldName(parts[1] as string), extension: foldName(parts[2] ?? '') }
}

const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)/i
const HFS_IGNORABLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu
const NON_ASCII = /[^\x00-\x7f]/
const SHORT_NAME = /^([^.~ ]{1,6})~[0-9]{1,2}(?:\.([^.~ ]{1,3}))?$/
const ALTERABLE =
  /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]|[. ](?:\/|$)|~[0-9]|(?:^|\/)(?:con(?:in\$|out\$)?|prn|aux|nul|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?:[./]|$)/i

/** Uses a loop, because `/[. ]+$/` is quadratic for a name of dots. */
function trimEnd(name: string): string {
  let end = name.length
  while (isTrimmed(name.charCodeAt(end - 1))) end -= 1
  return name.slice(0, end)
}
