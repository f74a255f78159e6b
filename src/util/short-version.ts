/** Digits of a version that a model is shown, and the fewest that name one. */
export const SHOWN_DIGITS = 8

/** Shortens a sha256 or the id of a commit as a model is shown it. Any other text stays. */
export function shortVersion(version: string): string {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(version) ? version.slice(0, SHOWN_DIGITS) : version
}
