/**
 * The meaning of each flag. Flags are advisory: they ask a person to look, and their absence proves nothing.
 *
 * `changesPublicApi` and `deletesOrSkipsTests` follow line rules for TypeScript, JavaScript, Python, Go, Rust and Java,
 * applied to the lines that a line diff removes and adds. Such rules miss
 * - everything but the first line of a declaration: parameters on lines of their own, fields of an exported interface,
 *   enum variants, names in an `export { … }` over several lines;
 * - what is public without saying so on its line: members of exported classes and interfaces, Python re-exports, Go
 *   interface methods without a result;
 * - a weaker assertion in place of a stronger one, and a test replaced by another;
 * - test functions and assertions under names of the project's own, and skips that a variable or a configuration decides;
 * - everything beyond character 1,000 of a line.
 *
 * They raise a flag without cause for a declaration that is only laid out differently, and for text in strings and in
 * comments within a line that looks like code.
 */
export const riskMeanings = {
  touchesBuildFile: 'A file that decides how the project is built, tested, packaged or delivered, by its name',
  touchesSecuritySensitivePath:
    'A file or parent directory whose name contains a word about security or permissions; a file that may hold a secret; a file labelled confidential or higher',
  deletesFile: 'A file or link is deleted and not moved',
  changesPublicApi:
    'A line with an exported or public declaration is removed or has another signature; additions do not count',
  deletesOrSkipsTests:
    'A test file is deleted, or the changed lines remove more tests or assertions than they add, or add more skips than they remove',
} as const

/** Something about a change that a person should check. {@link riskMeanings} describes each flag. */
export type RiskFlag = keyof typeof riskMeanings

export const riskFlags = Object.keys(riskMeanings) as [RiskFlag, ...RiskFlag[]]
