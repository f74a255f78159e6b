import { ToolError } from '../errors.ts'
import { isPlain } from '../util/check-options.ts'
import { SHOWN_DIGITS } from '../util/short-version.ts'

/**
 * The versions of files and the commits that a run was shown. A model sees the first digits of each, and a call may name one by
 * them. The call then expects the whole version, so a comparison is always with all digits.
 */
export interface SeenVersions {
  /** Records the versions in the result of a call, or in its refusal. */
  note(result: object): void
  /**
   * Replaces the first digits of a version by the whole one, in the fields of an input that expect versions. Digits of a version
   * that the run has not seen stay, and match no file.
   *
   * @throws ToolError `INVALID_INPUT` if several seen versions begin with the digits
   */
  complete(input: unknown): unknown
}

/** Maximum number of beginnings to remember. The oldest are dropped. */
const MAX_BEGINNINGS = 10_000

/** Fields of a result that contain a version, and those that contain a list of objects with such fields. */
const versionFields = ['sha256', 'oldSha256', 'newSha256', 'currentSha256', 'baseCommit', 'currentBaseCommit'] as const
const listFields = ['filesTouched', 'matches', 'files'] as const

/** Creates the empty record of a new run. */
export function createSeenVersions(): SeenVersions {
  const versions = new Map<string, readonly string[]>()

  function add(version: unknown): void {
    if (typeof version !== 'string' || version.length <= SHOWN_DIGITS) return
    const beginning = version.slice(0, SHOWN_DIGITS)
    const others = versions.get(beginning) ?? []
    if (others.includes(version)) return
    versions.set(beginning, [...others, version])
    if (versions.size > MAX_BEGINNINGS) versions.delete(versions.keys().next().value as string)
  }

  function wholeOf(field: string, version: unknown): unknown {
    if (typeof version !== 'string') return version
    const seen = versions.get(version.slice(0, SHOWN_DIGITS))?.filter((whole) => whole.startsWith(version)) ?? []
    if (seen.length < 2) return seen[0] ?? version
    const message = `Invalid input: ${field}: ${seen.length} versions that this run has seen begin with ${version}`
    throw new ToolError('INVALID_INPUT', message, { field, hint: `Give all digits: ${seen.join(' or ')}.` })
  }

  return {
    note(result) {
      const fields = result as Readonly<Record<string, unknown>>
      for (const field of versionFields) add(fields[field])
      for (const field of listFields) {
        const list = fields[field]
        for (const entry of Array.isArray(list) ? list : []) {
          for (const name of versionFields) add(Object(entry)[name])
        }
      }
    },
    complete(input) {
      const found = expectedIn(input)
      if (found === undefined) return input
      const { expectedSha256s, ...single } = found.expected
      const whole = Object.entries(single).map(([field, version]) => [field, wholeOf(field, version)])
      const byPath = Object.entries(expectedSha256s ?? {}).map(([path, version]) => [
        path,
        wholeOf(`expectedSha256s.${path}`, version),
      ])
      return {
        ...found.fields,
        ...Object.fromEntries(whole),
        ...(expectedSha256s === undefined ? {} : { expectedSha256s: Object.fromEntries(byPath) }),
      }
    },
  }
}

interface Expected {
  readonly expectedSha256?: string
  readonly expectedBaseCommit?: string
  readonly expectedSha256s?: Readonly<Record<string, unknown>>
}

/**
 * Returns the fields of an input, and those of them that expect versions. `undefined` if there are none, and for an input that
 * cannot be read, which its schema refuses.
 */
function expectedIn(
  input: unknown,
): { readonly fields: Readonly<Record<string, unknown>>; readonly expected: Expected } | undefined {
  try {
    if (!isPlain(input)) return undefined
    const fields = { ...input }
    const { expectedSha256, expectedBaseCommit, expectedSha256s } = fields
    const expected = {
      ...(typeof expectedSha256 === 'string' && { expectedSha256 }),
      ...(typeof expectedBaseCommit === 'string' && { expectedBaseCommit }),
      ...(isPlain(expectedSha256s) && { expectedSha256s: { ...expectedSha256s } }),
    }
    return Object.keys(expected).length === 0 ? undefined : { fields, expected }
  } catch {
    return undefined
  }
}
