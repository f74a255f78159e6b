/**
 * What the output of a test run says beside its results, in the Test Anything Protocol as `node --test` prints it: how long a passing
 * test took, a name that the next line repeats, and counts of nothing. A block with anything else, such as a failure, does not match.
 */
const besideResults =
  /^( *)(?:---\n(?:\1(?:duration_ms: [\d.]+|type: '(?:test|suite)')\n)+\1\.\.\.|# Subtest: (.*)(?=\n\1ok \d+ - \2(?: #|$))|# (?:(?:suites|cancelled|skipped|todo) 0|duration_ms [\d.]+))\n/gm

/**
 * Shortens the output of a test run, and says so in the line with which it begins. What comes before that line, and any other text, is
 * unchanged.
 */
export function shortenTestOutput(text: string): string {
  const start = /^TAP version 1\d$/m.exec(text)
  if (start === null) return text
  const at = start.index + start[0].length
  const results = text.slice(at)
  const shortened = results.replace(besideResults, (part: string, ...groups: unknown[]) => {
    const offset = groups.at(-2) as number
    return isOfFailure(results, offset) ? part : ''
  })
  return `${text.slice(0, at)}, without durations${shortened}`
}

/** Whether the line before a position says that a test has failed. */
function isOfFailure(text: string, position: number): boolean {
  const start = text.lastIndexOf('\n', position - 2) + 1
  return /^ *not ok\b/.test(text.slice(start, position))
}
