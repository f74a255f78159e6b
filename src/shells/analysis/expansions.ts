import {
  type ArithmeticExpression,
  type Assignment,
  forEachChild,
  type ParameterExpansionPart,
  type SyntaxNode,
  type TestExpression,
  type Word,
  type WordPart,
} from 'unbash'
import { rangeOf, type Scope, type WalkContext } from './analysis.ts'
import { checkVariable } from './assignments.ts'
import { isAssignment, isNumericCommand } from './script-facts.ts'
import { inheritedVariables, numericVariables } from './variables.ts'
import { literalOf } from './words.ts'

/** Checks everything in a word, an assignment or an expression that runs when it is expanded. */
export function checkExpansions(walk: WalkContext, node: SyntaxNode, scope: Scope): void {
  const { analysis } = walk
  const at = rangeOf(node, scope)
  let inner = scope
  switch (node.type) {
    case 'CommandExpansion':
      analysis.checkOperator(node.text.startsWith('`') ? '`' : '$(', at)
      if (node.text.startsWith('${')) analysis.deny('SYNTAX_ERROR', 'A command in braces is not portable', at)
      walk.nested(node.script, scope, at)
      return
    case 'ArithmeticCommandExpansion':
      analysis.checkOperator('$(', at)
      if (!isNumericCommand(node.text)) denyArithmetic(walk, node.text, scope, node)
      walk.nested(node.script, scope, at)
      return
    case 'ProcessSubstitution':
      analysis.checkOperator(node.operator === '<' ? '<(' : '>(', at)
      walk.nested(node.script, scope, at)
      return
    case 'ParameterExpansion':
      checkParameter(walk, node, scope)
      inner = { ...scope, isLoose: true }
      break
    case 'ArithmeticExpansion':
      analysis.checkOperator('$((', at)
      if (node.expression === undefined) analysis.deny('SYNTAX_ERROR', 'An arithmetic expansion does not parse', at)
      inner = { ...scope, isQuoted: true }
      break
    case 'DoubleQuoted':
    case 'HereDocBody':
      inner = { ...scope, isQuoted: true }
      break
    case 'Literal':
    case 'ArithmeticWord':
      /* v8 ignore if -- @preserve: a net under the parser, which reports it first */
      if (
        (node.type === 'Literal' || node.parts === undefined) &&
        hidesExpansion(node.type === 'Literal' ? node.text : node.value)
      ) {
        analysis.deny('SYNTAX_ERROR', 'An expansion does not parse', at)
      }
      if (node.type === 'ArithmeticWord') checkArithmeticWord(walk, node, scope)
      break
    case 'Word':
      if (node.parts === undefined && hidesExpansion(node.text))
        analysis.deny('SYNTAX_ERROR', 'An expansion does not parse', at)
      if (scope.isLoose !== true && !isReadWhole(node)) {
        analysis.deny('SYNTAX_ERROR', `The word ${JSON.stringify(node.text)} does not parse`, at)
      }
      if (isReadDifferently(node.text)) {
        analysis.deny('SYNTAX_ERROR', `${JSON.stringify(node.text)} means something else in other shells`, at)
      }
      break
    case 'ArithmeticBinary':
      if (isAssignment(node.operator) && node.left.type === 'ArithmeticWord') {
        checkVariable(walk, node.left.value, undefined, scope, at)
        if (node.operator === '=') {
          checkPlainAssignment(walk, node.left, node.right, scope)
          return
        }
      }
      break
    case 'ExtendedGlob':
      // Without extended globs, `!(a)` is a command.
      if (scope.isPattern !== true)
        analysis.deny('SYNTAX_ERROR', 'An extended glob means something else in other shells', at)
      break
    case 'LocaleString':
      analysis.deny('SYNTAX_ERROR', '$"" means something else in other shells', at)
      break
    case 'AnsiCQuoted':
      if (scope.dialect === 'sh') analysis.deny('SYNTAX_ERROR', "$'' means something else in sh", at)
      break
    default:
  }
  forEachChild(node, (child) => checkExpansions(walk, child, inner))
}

/** Checks `left = right`, which does not read the variable. */
function checkPlainAssignment(walk: WalkContext, left: SyntaxNode, right: SyntaxNode, scope: Scope): void {
  const { certain: _, ...unread } = scope
  checkExpansions(walk, left, unread)
  checkExpansions(walk, right, scope)
}

/**
 * Whether the interpreter of `bash()` ends the command before or in a word, so that the rest of it would be a command: it takes
 * every `[[` for the start of a test, a backslash after a list in braces for an ordinary character, also behind `!`, and so a quote
 * in what looks like a subscript, if a backslash follows.
 */
function isReadDifferently(text: string): boolean {
  return text === '[[' || /^!*\{[^}]+\}[\s\S]*\\/.test(text) || /^[A-Za-z_]\w*\[[^'"]*['"][\s\S]*\\/.test(text)
}

/** Whether the unquoted text of a word contains no characters that a shell would interpret. */
function isReadWhole(word: Word): boolean {
  const bare = word.parts === undefined ? [word] : bareParts(word.parts)
  return bare.every(({ text }) => !OPERATORS.test(text.replace(/\\[\s\S]/g, '')))
}

/** The parts of a word that are neither quoted nor expanded, also those between brackets. */
function bareParts(parts: readonly WordPart[]): readonly WordPart[] {
  return parts.flatMap((part) => {
    if (part.type === 'Literal') return part
    if (part.type !== 'Glob') return []
    const inner = part.parts ?? []
    // A pattern is its parts between brackets, and nothing else. Quotes in it may end elsewhere in other shells.
    const isWhole = part.text === `[${inner.map(({ text }) => text).join('')}]` && !/['"\\]/.test(part.text)
    return isWhole ? bareParts(inner) : part
  })
}

/** Whether text that the parser reads as plain contains the start of an expansion. This guards against parser bugs. */
export function hidesExpansion(text: string): boolean {
  return /`|\$[({]/.test(text.replace(/\\[\s\S]/g, ''))
}

/** Characters that a shell interprets. A single dollar sign is text. */
const OPERATORS = /[`"'()<>|&;\s]|\$[\w({['"*@#?$!-]/

/** Texts in double quotes that end at the same place in every shell. */
const PLAIN_QUOTES = /"(?:[^"'\\`{}$]|\$[\w@#?*]|\$\{\w+\})*"/g

function checkParameter(walk: WalkContext, node: ParameterExpansionPart, scope: Scope): void {
  const { analysis } = walk
  const at = rangeOf(node, scope)
  const { operation } = node
  // In other shells, quotes in an operand may end elsewhere.
  const isPlain = analysis.isScript && scope.isQuoted !== true && !/['"\\`]/.test(node.text.replace(PLAIN_QUOTES, ''))
  if (scope.dialect === 'sh' && /['"\\]/.test(node.text) && !isPlain) {
    analysis.deny('SYNTAX_ERROR', 'Quotes in an expansion mean something else in sh', at)
  }
  const assigns = operation?.type === 'Default' && operation.operator.endsWith('=')
  if (node.index !== undefined && (assigns || !isKey(walk, node.parameter, node.index, node.pos, scope)))
    checkNumber(walk, node.index, scope)
  if (node.prefix === '!' && operation?.type !== 'Names' && !/^[@*]$/.test(node.index?.text ?? '')) {
    analysis.deny('ARITHMETIC_NOT_KNOWN', 'An indirect expansion may run commands in the name', at)
  }
  if (operation === undefined) return
  if (operation.type === 'Unknown') analysis.deny('SYNTAX_ERROR', 'A parameter expansion does not parse', at)
  if (operation.type === 'Transform' && !/^[QUuLAaKkE]$/.test(operation.operand.text)) {
    analysis.deny('HIDDEN_COMMAND', 'The expansion runs the commands in a prompt', at)
  }
  if (assigns) {
    checkVariable(walk, node.parameter, literalOf(operation.operand), scope, at)
  }
  if (operation.type === 'Slice') {
    checkNumber(walk, operation.offset, scope)
    if (operation.length !== undefined) checkNumber(walk, operation.length, scope)
  }
}

/** Checks an assignment before a command, as a command, or as an argument of `export`. */
export function checkAssignment(
  walk: WalkContext,
  node: Assignment,
  scope: Scope,
  command?: string,
  isAssociative = false,
): void {
  checkExpansions(walk, node, scope)
  // Built-ins such as `declare` expand a subscript twice.
  if (node.index !== undefined && (command !== undefined || !isKey(walk, node.name, node.index, node.pos, scope)))
    checkNumber(walk, node.index, scope)
  if (node.value.type === 'ArrayValue' && !isAssociative)
    for (const element of node.value.elements) checkSubscript(walk, element, scope)
  // `IFS=, read` changes only how this `read` splits its input.
  if (node.name === 'IFS' && command === 'read') return
  const raw = node.value.type === 'Word' && node.append !== true && node.index === undefined ? node.value.text : ''
  checkVariable(walk, node.name, literalOf(node.value), scope, rangeOf(node, scope), raw)
}

/** Whether a subscript is the key of an associative array, and no arithmetic. Its expansions are checked separately. */
function isKey({ facts }: WalkContext, name: string, index: Word, position: number, scope: Scope): boolean {
  // In a nested script, positions are those of another text.
  return scope.at === undefined && facts.isAssociative(name, position) && PLAIN_KEY.test(index.text)
}

/** Subscripts that end at the same place in every version of bash. */
const PLAIN_KEY = /^(?:(?:[\w./:@%+,-]|\$\w|\$\{\w+\})+|'[\w ./:@%+,-]*'|"(?:[\w ./:@%+,-]|\$\w|\$\{\w+\})*")$/

/** Checks the subscript in an element of a list such as `([1]=a [n]=b)`, which is arithmetic. */
function checkSubscript(walk: WalkContext, element: Word, scope: Scope): void {
  const subscript = /^\[([\s\S]*)\]\+?=/.exec(element.text)?.[1]
  if (subscript === undefined) return
  if (/^(?:[\w\s+*/%-]|\$(?=[A-Za-z_]))*$/.test(subscript))
    checkNames(walk, subscript.replaceAll('$', ''), scope, element)
  else denyArithmetic(walk, subscript, scope, element)
}

/** Checks the tests of `[[ ]]`. Numeric tests are arithmetic. */
export function checkTest(walk: WalkContext, test: TestExpression, outer: Scope): void {
  const scope = { ...outer, isLoose: true }
  switch (test.type) {
    case 'TestUnary':
      checkExpansions(walk, test.operand, scope)
      if ((test.operator === '-v' || test.operator === '-R') && !/^\w+$/.test(literalOf(test.operand) ?? '')) {
        walk.analysis.deny(
          'ARITHMETIC_NOT_KNOWN',
          `${test.operator} may run commands in an index`,
          rangeOf(test, scope),
        )
      }
      return
    case 'TestBinary':
      checkExpansions(walk, test.left, scope)
      checkExpansions(walk, test.right, { ...scope, isPattern: true })
      if (numericTests.has(test.operator)) {
        checkNumber(walk, test.left, scope)
        checkNumber(walk, test.right, scope)
      }
      return
    case 'TestLogical':
      for (const operand of test.operands) checkTest(walk, operand, scope)
      return
    case 'TestNot':
      checkTest(walk, test.operand, scope)
      return
    case 'TestGroup':
      checkTest(walk, test.expression, scope)
      return
  }
}

const numericTests = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge'])

/** Checks a word that the shell evaluates as arithmetic. */
function checkNumber(walk: WalkContext, word: Word, scope: Scope): void {
  checkExpansions(walk, word, { ...scope, isLoose: true })
  // A tilde without a user name stays a tilde, and is an operator in arithmetic.
  const literal = literalOf(word)
  if (literal !== undefined || word.parts === undefined) checkNames(walk, literal ?? word.value, scope, word)
  else for (const part of word.parts) checkNumberPart(walk, part, scope)
}

function checkArithmeticWord(
  walk: WalkContext,
  node: Extract<ArithmeticExpression, { type: 'ArithmeticWord' }>,
  scope: Scope,
): void {
  if (/^\$\w+$/.test(node.value)) checkParameterNumber(walk, node.value.slice(1), scope, node)
  else if (node.parts === undefined) checkNames(walk, node.value, scope, node)
  else for (const part of node.parts) checkNumberPart(walk, part, scope)
}

function checkNumberPart(walk: WalkContext, part: NonNullable<Word['parts']>[number], scope: Scope): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      checkNames(walk, part.value, scope, part)
      return
    case 'SimpleExpansion':
      checkParameterNumber(walk, part.text.slice(1), scope, part)
      return
    case 'ParameterExpansion':
      if (part.prefix === '#') return
      if (part.prefix === undefined && isNumberOr(part)) {
        if (part.index === undefined) checkParameterNumber(walk, part.parameter, scope, part)
        else if (!holdsNumbers(walk, part, scope)) denyArithmetic(walk, part.text, scope, part)
        return
      }
      break
    case 'ArithmeticExpansion':
      return
    case 'DoubleQuoted':
      for (const inner of part.parts) checkNumberPart(walk, inner, scope)
      return
    case 'CommandExpansion':
      if (isNumericCommand(part.text)) return
      break
    default:
  }
  denyArithmetic(walk, part.text, scope, part)
}

/** Whether an expansion has no operator, or one with a whole number as the default value, such as `${n:-0}`. */
function isNumberOr({ operation }: ParameterExpansionPart): boolean {
  if (operation === undefined) return true
  const isDefault = operation.type === 'Default' && /^:?-$/.test(operation.operator)
  return isDefault && /^\d+$/.test(literalOf(operation.operand) ?? '')
}

/** Whether all values of an associative array are numbers. The value that a variable had before becomes one of them. */
function holdsNumbers({ facts }: WalkContext, { parameter, pos }: ParameterExpansionPart, scope: Scope): boolean {
  const isKnown = scope.at === undefined && facts.isAssociative(parameter, pos, scope.certain !== undefined)
  return isKnown && facts.isNumeric(parameter)
}

/** Requires that a parameter holds a number. The arguments of a script and of a function may be any text. */
function checkParameterNumber(
  walk: WalkContext,
  name: string,
  scope: Scope,
  node: { readonly pos: number; readonly end: number },
): void {
  if (/^[A-Za-z_]/.test(name)) checkNames(walk, name, scope, node)
  else if (!/^[#?$!]$/.test(name)) denyArithmetic(walk, `$${name}`, scope, node)
}

/** Requires that every name holds a number. In other values, the shell would run substitutions. */
function checkNames(
  walk: WalkContext,
  text: string,
  scope: Scope,
  node: { readonly pos: number; readonly end: number },
): void {
  if (/[$`\\'"]/.test(text) && text !== '$') {
    denyArithmetic(walk, text, scope, node)
    return
  }
  for (const [name] of text.matchAll(/(?<![\w#@])[A-Za-z_]\w*/g)) {
    if (!isCertain(name, scope) || !walk.facts.isNumeric(name)) denyArithmetic(walk, name, scope, node)
  }
}

/** Whether the value of a variable does not come from the command that has started the script. */
function isCertain(name: string, { certain }: Scope): boolean {
  if (certain === undefined || certain.hasVariable(name)) return true
  return numericVariables.has(name) && !inheritedVariables.has(name)
}

function denyArithmetic(
  walk: WalkContext,
  expression: string,
  scope: Scope,
  node: { readonly pos: number; readonly end: number },
): void {
  walk.analysis.deny(
    'ARITHMETIC_NOT_KNOWN',
    `Arithmetic on ${JSON.stringify(expression)}, which may contain commands`,
    rangeOf(node, scope),
  )
}
