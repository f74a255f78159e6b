/** What the interpreter says of its own package in errors, and what it says here. */
const errors: readonly (readonly [RegExp, string])[] = [
  [/\b(zstd|xz) compression requires .*/g, '$1 is not available in this shell; use -z or -j'],
  [/^(.{1,300})(?:, increase executionLimits\.\w+|; this shell allows no more)$/gm, '$1'],
  // The errors of an engine that has no more room for a recursion or a value.
  [
    /(^|: )(?:RangeError: |InternalError: )?(?:Maximum call stack size exceeded\.?|too much recursion|stack overflow|out of memory|Invalid (?:string|array|typed array) length|Array buffer allocation failed|Out of memory)$/gm,
    '$1too large, or nested too deeply, for this shell',
  ],
]

/** The same in the text of `--help`. */
const helps: readonly (readonly [RegExp, string])[] = [
  [/ \(BashEnv extension\)/, ''],
  [/^.*\bBashEnv extension command.*\n/m, ''],
  [/^.*\bcurl .*\n/gm, ''],
]

/** Changes texts about the interpreter's package, which is not here, to texts about this shell. */
export function withOwnTexts<T extends { readonly stdout: string; readonly stderr: string }>(
  result: T,
  isHelp = false,
): T {
  return {
    ...result,
    stdout: isHelp ? replaced(result.stdout, helps) : result.stdout,
    stderr: replaced(result.stderr, errors),
  }
}

function replaced(text: string, changes: readonly (readonly [RegExp, string])[]): string {
  return changes.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), text)
}
