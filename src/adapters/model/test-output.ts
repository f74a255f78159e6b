/**
 * What the output of a test run says beside its results, in the Test Anything Protocol as `node --test` prints it: how long a test
 * took, a name that the next line repeats, and counts of nothing. A block with anything else, such as a failure, does not match.
 */
const besideResults =
  /^( *)(?:---\n(?:\1(?:duration_ms|type): .*\n)+\1\.\.\.|# Subtest: (.*)(?=\n\1ok \d+ - \2(?: #|$))|# (?:(?:suites|cancelled|skipped|todo) 0|duration_ms .*))\n/gm

/** Shortens the output of a test run, and says so in its first line. Any other text is returned unchanged. */
export function shortenTestOutput(text: string): string {
  const marked = text.replace(/^TAP version 1\d$/m, '$&, without durations')
  return marked === text ? text : marked.replace(besideResults, '')
}
