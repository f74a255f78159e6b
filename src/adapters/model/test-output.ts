/**
 * Shortens the output of a test run in the Test Anything Protocol, as `node --test` prints it: leaves out how long each test took,
 * names of tests that the next line repeats, and counts of nothing. Failures stay as they are. Any other text is returned unchanged.
 */
export function shortenTestOutput(text: string): string {
  if (!/^TAP version 1[34]$/m.test(text)) return text
  return text
    .replace(/^( *)---\n(?:\1(?:duration_ms: [\d.]+|type: '(?:test|suite)')\n)+\1\.\.\.\n/gm, '')
    .replace(/^( *)# Subtest: (.*)\n(?=\1ok \d+ - \2(?: # .*)?$)/gm, '')
    .replace(/^# (?:(?:suites|cancelled|skipped|todo) 0|duration_ms [\d.]+)\n/gm, '')
}
