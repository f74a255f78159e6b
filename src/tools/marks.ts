/** What every mark of a hidden secret begins with. */
export const MARK_START = '[REDACTED:'

/** Where known marks stand in a text, in order. A mark ends at the first `]`. Linear. */
export function* markPositions(
  text: string,
  known: { has(mark: string): boolean },
): Generator<{ start: number; end: number }, void, undefined> {
  for (let start = text.indexOf(MARK_START); start !== -1; start = text.indexOf(MARK_START, start + 1)) {
    const close = text.slice(start, start + LONGEST).indexOf(']')
    if (close === -1) continue
    const end = start + close + 1
    if (known.has(text.slice(start, end))) yield { start, end }
  }
}

/** More than any mark has. */
const LONGEST = 200
