import { isPlain } from '../util/check-options.ts'
import { SHOWN_DIGITS } from '../util/short-version.ts'
import type { SeenVersions } from './seen-versions.ts'

/**
 * Replaces the first digits of a version by the whole one, in the fields of an input that expect versions, so that every comparison is
 * with all digits. Digits of no version that the run was shown, or of several, stay, and match no file. So does an input that cannot be
 * read, which its schema refuses.
 */
export function completeVersions(seen: SeenVersions, input: unknown): unknown {
  let byDigits: ReadonlyMap<string, readonly string[]> | undefined
  const complete = (version: unknown) => {
    if (typeof version !== 'string' || version.length < SHOWN_DIGITS || version.length >= WHOLE_DIGITS) return version
    byDigits ??= groupByDigits(seen)
    const likely = byDigits.get(version.slice(0, SHOWN_DIGITS)) ?? []
    const [whole, ...others] = likely.filter((one) => one.startsWith(version))
    return others.length === 0 ? (whole ?? version) : version
  }
  try {
    if (!isPlain(input)) return input
    return mapFields(input, (value, name) => {
      if (!/^expected(?:Sha256s?|BaseCommit)$/.test(name)) return value
      return isPlain(value) ? mapFields(value, complete) : complete(value)
    })
  } catch {
    return input
  }
}

/** Digits of a whole sha256. The digits of a commit, of which there are 40, find themselves. */
const WHOLE_DIGITS = 64

/** Groups versions by the digits that are shown. An input may have thousands of versions. */
function groupByDigits(seen: SeenVersions): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const version of seen) {
    const digits = version.slice(0, SHOWN_DIGITS)
    const group = groups.get(digits)
    if (group === undefined) groups.set(digits, [version])
    else group.push(version)
  }
  return groups
}

function mapFields(fields: object, map: (value: unknown, name: string) => unknown): object {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, map(value, name)]))
}
