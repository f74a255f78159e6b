/** Operators that a policy can deny. */
const operators = [
  '&&',
  '||',
  ';',
  '&',
  '|',
  '|&',
  '!',
  '>',
  '>>',
  '>|',
  '>&',
  '&>',
  '&>>',
  '<',
  '<&',
  '<>',
  '<<',
  '<<-',
  '<<<',
  '$(',
  '`',
  '<(',
  '>(',
  '$((',
  '(',
  '{',
  '((',
  '[[',
  '\n',
] as const

/** An operator of a command line. */
export type Operator = (typeof operators)[number]

/** Entries for all operators of one meaning. */
const spellings: Readonly<Record<string, string>> = {
  '>|': '>',
  '&>': '>',
  '>&': '>',
  '&>>': '>>',
  '<&': '<',
  '<<-': '<<',
  '$()': '$(',
  '()': '(',
  '{}': '{',
}

/**
 * Returns a test of the operators that the entries deny. An entry also denies the operators that contain it: `>` denies `>>`.
 *
 * @throws TypeError for an entry that is not an operator
 */
export function compileOperators(entries: readonly string[] = []): (operator: Operator) => boolean {
  const denied = entries.map((entry, index) => {
    const operator = spellings[entry] ?? entry
    if ((operators as readonly string[]).includes(operator)) return operator
    const list = operators.map((other) => JSON.stringify(other)).join(', ')
    throw new TypeError(
      `Policy field "commands.deniedOperators[${index}]" is not an operator: ${JSON.stringify(entry)}; the operators are ${list}`,
    )
  })
  return (operator) => {
    const sameMeaning = operator === '`' ? '$(' : operator === '$(' ? '`' : operator === ';' ? '\n' : operator
    return denied.some((entry) => operator.includes(entry) || sameMeaning === entry)
  }
}
