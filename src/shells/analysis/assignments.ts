import type { Scope, WalkContext } from './analysis.ts'
import { resolvePath } from './cwd.ts'
import { commandVariables, evaluatedVariables, isDangerousVariable, isHarmlessNodeOptions } from './variables.ts'
import type { TextRange } from './verdict.ts'

/** Checks a variable that the line sets. `value` is undefined if it is only known at run time, `raw` is the value as written. */
export function checkVariable(
  walk: WalkContext,
  name: string,
  value: string | undefined,
  scope: Scope,
  at: TextRange,
  raw = value,
): void {
  const { analysis } = walk
  // Programs read variables in capitals.
  if (value !== undefined && !/[a-z]/.test(name)) analysis.settings.push({ value, at })
  if (!/^[A-Za-z_]\w*$/.test(name)) {
    analysis.deny('VARIABLE_DENIED', `${JSON.stringify(name)} is not a plain variable name`, at)
  } else if (name === 'NODE_OPTIONS') {
    if (value === undefined || !isHarmlessNodeOptions(value)) {
      analysis.deny('VARIABLE_DENIED', 'NODE_OPTIONS may load code', at)
    }
  } else if (analysis.isScript && isHarmlessInScript(name, value, raw, walk)) {
    return
  } else if (evaluatedVariables.has(name)) {
    if (value === undefined || !/^\d*$/.test(value)) {
      analysis.deny(
        'ARITHMETIC_NOT_KNOWN',
        `Arithmetic on ${JSON.stringify(value ?? name)}, which may contain commands`,
        at,
      )
    }
  } else if (commandVariables.has(name)) {
    if (value === undefined) analysis.deny('VARIABLE_DENIED', `The command in ${name} is only known at run time`, at)
    else walk.source(value, { ...scope, via: [...scope.via, name] }, at)
  } else if (isDangerousVariable(name) && !(/(PAGER|EDITOR)$/.test(name) && idle.has(value))) {
    analysis.deny('VARIABLE_DENIED', `${name} controls what later commands start`, at)
  }
}

/** Pagers and editors that start no other command. */
const idle: ReadonlySet<string | undefined> = new Set(['', 'cat', 'true'])

/** Whether a script file may set a variable that no line may set. */
function isHarmlessInScript(
  name: string,
  value: string | undefined,
  raw: string | undefined,
  { analysis, facts }: WalkContext,
): boolean {
  const entries = /^(["']?)([^"'`\\]*)\1$/.exec(raw ?? '')?.[2]?.split(':') ?? ['']
  const isInherited = (entry: string): boolean => (raw?.startsWith("'") ?? false) === false && INHERITED.test(entry)
  switch (name) {
    case 'IFS':
      // Then every unquoted expansion counts as several words, see `argumentsOf`.
      return facts.setsSeparators
    case 'CDPATH':
      return value === ''
    case 'PATH':
      return entries.every(
        (entry) =>
          isInherited(entry) ||
          (/^\/(usr\/(local\/)?)?s?bin$/.test(entry) && resolvePath(entry, undefined, analysis.root) === 'outside'),
      )
    case 'NODE_PATH':
      // From such directories, Node loads modules anyway.
      return entries.every((entry) => isInherited(entry) || /^[^$~]*\/node_modules$/.test(entry))
    default:
      return false
  }
}

/** The former value of `PATH` or `NODE_PATH`. */
const INHERITED = /^\$(\{(NODE_)?PATH\}|(NODE_)?PATH)$/
