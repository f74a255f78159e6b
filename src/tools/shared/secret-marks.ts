/** What every mark of a hidden secret begins with. */
export const MARK_START = '[REDACTED:'

/** Where known marks stand in a text, in order, with what is known of each. A mark ends at the first `]`. Linear. */
export function* markPositions<T>(
  text: string,
  known: ReadonlyMap<string, T>,
): Generator<{ start: number; end: number; of: T }, void, undefined> {
  for (let start = text.indexOf(MARK_START); start !== -1; start = text.indexOf(MARK_START, start + 1)) {
    const close = text.slice(start, start + LONGEST).indexOf(']')
    if (close === -1) continue
    const end = start + close + 1
    const of = known.get(text.slice(start, end))
    if (of !== undefined) yield { start, end, of }
  }
}

/** More than any mark has. */
const LONGEST = 200
