import type { Scope, WalkContext } from './analysis.ts'
import { commandVariables, evaluatedVariables, isDangerousVariable, isHarmlessNodeOptions } from './variables.ts'
import type { TextRange } from './verdict.ts'

/** Checks a variable that the line sets. `value` is undefined if it is only known at run time. */
export function checkVariable(
  walk: WalkContext,
  name: string,
  value: string | undefined,
  scope: Scope,
  at: TextRange,
): void {
  const { analysis } = walk
  if (!/^[A-Za-z_]\w*$/.test(name)) {
    analysis.deny('VARIABLE_DENIED', `${JSON.stringify(name)} is not a plain variable name`, at)
  } else if (name === 'NODE_OPTIONS') {
    if (value === undefined || !isHarmlessNodeOptions(value)) {
      analysis.deny('VARIABLE_DENIED', 'NODE_OPTIONS may load code', at)
    }
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
