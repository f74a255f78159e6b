/**
 * The meaning of each flag. Flags are advisory: they ask a person to look, and their absence proves nothing.
 *
 * `changesPublicApi` and `deletesOrSkipsTests` follow rules for single lines of code. `docs/policy.md` lists what they miss.
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
