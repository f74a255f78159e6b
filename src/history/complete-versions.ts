import { isPlain } from '../util/check-options.ts'
import { SHOWN_DIGITS } from '../util/short-version.ts'
import type { SeenVersions } from './seen-versions.ts'

/**
 * Replaces the first digits of a version by the whole one, in the fields of an input that expect versions, so that every comparison is
 * with all digits. Digits of no version that the run was shown, or of several, stay, and match no file. So does an input that cannot be
 * read, which its schema refuses.
 */
export function completeVersions(seen: SeenVersions, input: unknown): unknown {
  const complete = (version: unknown) => {
    if (typeof version !== 'string' || version.length < SHOWN_DIGITS) return version
    const [whole, ...others] = [...seen].filter((one) => one.startsWith(version))
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

function mapFields(fields: object, map: (value: unknown, name: string) => unknown): object {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, map(value, name)]))
}
