import type { Scope, Walk } from './judge.ts'
import { commandVariables, isDangerousVariable, isHarmlessNodeOptions } from './variables.ts'
import type { Range } from './verdict.ts'

/** A variable that the line sets; `value` where it is known. */
export function judgeVariable(walk: Walk, name: string, value: string | undefined, scope: Scope, at: Range): void {
  const { judge } = walk
  if (!/^[A-Za-z_]\w*$/.test(name)) {
    judge.deny('VARIABLE_DENIED', `${JSON.stringify(name)} is no plain name of a variable`, at)
  } else if (name === 'NODE_OPTIONS') {
    if (value === undefined || !isHarmlessNodeOptions(value)) {
      judge.deny('VARIABLE_DENIED', 'NODE_OPTIONS may load code', at)
    }
  } else if (commandVariables.has(name)) {
    if (value === undefined)
      judge.deny('VARIABLE_DENIED', `What ${name} would start is only known when the line runs`, at)
    else if (value.trim() !== '') walk.source(value, { ...scope, via: [...scope.via, name] }, at)
  } else if (/PAGER$|EDITOR$/.test(name) && (value === '' || value === 'cat' || value === 'true')) {
    return
  } else if (isDangerousVariable(name)) {
    judge.deny('VARIABLE_DENIED', `${name} decides what later commands start`, at)
  }
}
