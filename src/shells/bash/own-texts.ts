/** What the interpreter says of its own package in errors, and what it says here. */
const errors: readonly (readonly [RegExp, string])[] = [
  [/\b(zstd|xz) compression requires .*/g, '$1 is not available in this shell; use -z or -j'],
  [/^(bash: help: no help topics match .{1,300})\. {2}Try `help help' or .*$/gm, '$1; help lists what there is'],
  [/^(.{1,300})(?:, increase executionLimits\.\w+|; this shell allows no more)$/gm, '$1'],
  // The errors of an engine that has no more room for a recursion or a value.
  [
    /(^|: )(?:RangeError: |InternalError: )?(?:Maximum call stack size exceeded\.?|too much recursion|stack overflow|out of memory|Invalid (?:string|array|typed array) length|Array buffer allocation failed|Out of memory)$/gm,
    '$1too large, or nested too deeply, for this shell',
  ],
]

/** Tokens of the parsers of the interpreter, as people write them. */
const tokens: Readonly<Record<string, string>> = {
  ...{
    EOF: 'end of file',
    NEWLINE: 'end of line',
    WORD: 'word',
    IDENT: 'name',
    SEMICOLON: ';',
    COMMA: ',',
    COLON: ':',
  },
  ...{ LPAREN: '(', RPAREN: ')', LBRACE: '{', RBRACE: '}', LBRACKET: '[', RBRACKET: ']' },
  ...{ DPAREN_START: '((', DPAREN_END: '))', DBRACK_START: '[[', DBRACK_END: ']]' },
}

function tokenText(token: string): string {
  return tokens[token] ?? token.toLowerCase()
}

/** `Parse error at 1:8: Expected RPAREN, got EOF` */
const PARSE_ERROR = /^bash: (?:syntax error: |eval: |([^:\n]{1,200}): )?Parse error at (\d+):\d+: (.{1,300})$/gm

function parseErrorText(_: string, file: string | undefined, line: string, reason: string): string {
  const place = `bash: ${file === undefined ? '' : `${file}: `}line ${Math.max(1, Number(line))}: `
  if (reason.startsWith('Maximum parser nesting depth'))
    return `${place}too large, or nested too deeply, for this shell`
  const [, got] = /^Expected \S+, got (\w+)$/.exec(reason) ?? []
  if (got === 'EOF') return `${place}syntax error: unexpected end of file`
  if (got !== undefined) return `${place}syntax error near unexpected token \`${tokenText(got)}'`
  return place + reason
}

/** Errors of the parsers of awk, jq and yq. */
const languageErrors: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [
    /^awk: (?:Unexpected token: |Expected \w+, got )(\w+) at line (\d+):\d+$/gm,
    (_, token = '', line) => `awk: line ${line}: syntax error at or near ${tokenText(token)}`,
  ],
  [
    /^(jq|yq): parse error: Unexpected token (\w+) at position (\d+)$/gm,
    (_, name, token = '', position) => `${name}: syntax error: unexpected ${tokenText(token)} at position ${position}`,
  ],
  [
    /^(jq|yq): parse error: Expected (.{1,80}) at position (\d+), got (\w+)$/gm,
    (_, name, wanted, position, token = '') =>
      `${name}: syntax error: expected ${wanted} at position ${position}, not ${tokenText(token)}`,
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
  const stdout = isHelp ? replaced(result.stdout, helps) : result.stdout
  const stderr = result.stderr === '' ? '' : errorTexts(result.stderr)
  return { ...result, stdout, stderr, ...accountedOf(result, stdout, stderr) }
}

/** The interpreter refuses a result that has less output than it has counted. */
function accountedOf(result: object, stdout: string, stderr: string): object {
  const { internalOutputAccounting: counted } = result as {
    internalOutputAccounting?: Record<'stdout' | 'stderr', number>
  }
  if (counted === undefined) return {}
  const least = { stdout: Math.min(counted.stdout, stdout.length), stderr: Math.min(counted.stderr, stderr.length) }
  return { internalOutputAccounting: least }
}

function errorTexts(text: string): string {
  const named = replaced(text, errors).replace(PARSE_ERROR, parseErrorText)
  return languageErrors.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), named)
}

function replaced(text: string, changes: readonly (readonly [RegExp, string])[]): string {
  return changes.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), text)
}
