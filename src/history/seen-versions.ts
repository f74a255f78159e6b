/**
 * The versions of files and the commits that a run was shown. A model sees the first digits of each, and a call may name one by
 * them: see `completeVersions`.
 */
export type SeenVersions = Set<string>

/** Maximum number of versions to remember. The oldest are dropped. */
const MAX_VERSIONS = 10_000

/** Records the versions in the result of a call, or in its refusal. */
export function noteVersions(seen: SeenVersions, result: object): void {
  for (const name of Object.keys(result)) {
    const value = (result as Record<string, unknown>)[name]
    if (Array.isArray(value)) {
      for (const entry of value) if (typeof entry === 'object' && entry !== null) noteVersions(seen, entry)
    } else if (typeof value === 'string' && /(?:sha256|commit)$/i.test(name)) seen.add(value)
  }
  for (const oldest of seen) {
    if (seen.size <= MAX_VERSIONS) return
    seen.delete(oldest)
  }
}

/** Whether an input may have fields that expect versions. `false` for an input that cannot be read, which its schema refuses. */
export function mayExpectVersions(input: unknown): boolean {
  try {
    return Object.keys(Object(input)).some((name) => name.startsWith('expected'))
  } catch {
    return false
  }
}
