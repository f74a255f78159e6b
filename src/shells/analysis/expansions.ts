import {
  type ArithmeticExpression,
  type Assignment,
  forEachChild,
  type ParameterExpansionPart,
  type SyntaxNode,
  type TestExpression,
  type Word,
} from 'unbash'
import { rangeOf, type Scope, type WalkContext } from './analysis.ts'
import { judgeVariable } from './assignments.ts'
import { assigns, isNumericCommand } from './script-facts.ts'
import { literalOf } from './words.ts'

/** Everything in a word, an assignment or an expression that runs when it is expanded. */
export function judgeExpansions(walk: WalkContext, node: SyntaxNode, scope: Scope): void {
  const { judge } = walk
  const at = rangeOf(node, scope)
  let inner = scope
  switch (node.type) {
    case 'CommandExpansion':
      judge.operator(node.text.startsWith('`') ? '`' : '$(', at)
      if (node.text.startsWith('${')) judge.deny('SYNTAX_ERROR', 'A command in braces is not portable', at)
      walk.nested(node.script, scope, at)
      return
    case 'ArithmeticCommandExpansion':
      judge.operator('$(', at)
      if (!isNumericCommand(node.text)) notKnown(walk, node.text, scope, node)
      walk.nested(node.script, scope, at)
      return
    case 'ProcessSubstitution':
      judge.operator(node.operator === '<' ? '<(' : '>(', at)
      walk.nested(node.script, scope, at)
      return
    case 'ParameterExpansion':
      judgeParameter(walk, node, scope)
      inner = { ...scope, loose: true }
      break
    case 'Literal':
    case 'ArithmeticWord':
      /* v8 ignore if -- @preserve: a net under the parser, which reports it first */
      if (
        (node.type === 'Literal' || node.parts === undefined) &&
        hidesExpansion(node.type === 'Literal' ? node.text : node.value)
      ) {
        judge.deny('SYNTAX_ERROR', 'An expansion does not parse', at)
      }
      if (node.type === 'ArithmeticWord') judgeArithmeticWord(walk, node, scope)
      break
    case 'Word':
      if (node.parts === undefined && hidesExpansion(node.text))
        judge.deny('SYNTAX_ERROR', 'An expansion does not parse', at)
      if (scope.loose !== true && !isReadWhole(node)) {
        judge.deny('SYNTAX_ERROR', `The word ${JSON.stringify(node.text)} does not parse`, at)
      }
      break
    case 'ArithmeticExpansion':
      judge.operator('$((', at)
      if (node.expression === undefined) judge.deny('SYNTAX_ERROR', 'An arithmetic expansion does not parse', at)
      break
    case 'ArithmeticBinary':
      if (assigns(node.operator) && node.left.type === 'ArithmeticWord') {
        judgeVariable(walk, node.left.value, undefined, scope, at)
      }
      break
    case 'ExtendedGlob':
      // Where extended globs are off, `!(a)` is a command.
      if (scope.pattern !== true)
        judge.deny('SYNTAX_ERROR', 'An extended glob means something else in other shells', at)
      break
    case 'AnsiCQuoted':
      if (scope.dialect === 'sh') judge.deny('SYNTAX_ERROR', "$'' means something else in sh", at)
      break
    default:
  }
  forEachChild(node, (child) => judgeExpansions(walk, child, inner))
}

/** Whether no unquoted text in a word holds what a shell would take for more than text. */
function isReadWhole(word: Word): boolean {
  const bare =
    word.parts === undefined ? [word] : word.parts.filter(({ type }) => type === 'Literal' || type === 'Glob')
  return bare.every(({ text }) => !OPERATORS.test(text.replace(/\\[\s\S]/g, '')))
}

/** Whether text that the parser takes for plain holds the beginning of an expansion. It never should. */
export function hidesExpansion(text: string): boolean {
  return /`|\$[({]/.test(text.replace(/\\[\s\S]/g, ''))
}

/** A dollar sign alone is text. */
const OPERATORS = /[`"'()<>|&;\s]|\$[\w({['"*@#?$!-]/

function judgeParameter(walk: WalkContext, node: ParameterExpansionPart, scope: Scope): void {
  const { judge } = walk
  const at = rangeOf(node, scope)
  const { operation } = node
  // Quotes in an operand end elsewhere in other shells.
  if (scope.dialect === 'sh' && /['"\\]/.test(node.text)) {
    judge.deny('SYNTAX_ERROR', 'Quotes in an expansion mean something else in sh', at)
  }
  if (node.index !== undefined) judgeNumber(walk, node.index, scope)
  if (node.prefix === '!' && operation?.type !== 'Names' && !/^[@*]$/.test(node.index?.text ?? '')) {
    judge.deny('ARITHMETIC_NOT_KNOWN', 'An indirect expansion runs what it finds in the name', at)
  }
  if (operation === undefined) return
  if (operation.type === 'Unknown') judge.deny('SYNTAX_ERROR', 'A parameter expansion does not parse', at)
  if (operation.type === 'Transform' && !/^[QUuLAaKkE]$/.test(operation.operand.text)) {
    judge.deny('HIDDEN_COMMAND', 'The expansion runs the commands in a prompt', at)
  }
  if (operation.type === 'Default' && operation.operator.endsWith('=')) {
    judgeVariable(walk, node.parameter, literalOf(operation.operand), scope, at)
  }
  if (operation.type === 'Slice') {
    judgeNumber(walk, operation.offset, scope)
    if (operation.length !== undefined) judgeNumber(walk, operation.length, scope)
  }
}

/** An assignment in front of a command, as a command, or as an argument of `export`. */
export function judgeAssignment(walk: WalkContext, node: Assignment, scope: Scope, command?: string): void {
  judgeExpansions(walk, node, scope)
  if (node.index !== undefined) judgeNumber(walk, node.index, scope)
  // What one `read` splits at is its own affair.
  if (node.name === 'IFS' && command === 'read') return
  judgeVariable(walk, node.name, literalOf(node.value), scope, rangeOf(node, scope))
}

/** The tests of `[[ ]]`. Those on numbers are arithmetic. */
export function judgeTest(walk: WalkContext, test: TestExpression, outer: Scope): void {
  const scope = { ...outer, loose: true }
  switch (test.type) {
    case 'TestUnary':
      judgeExpansions(walk, test.operand, scope)
      if ((test.operator === '-v' || test.operator === '-R') && !/^\w+$/.test(literalOf(test.operand) ?? '')) {
        walk.judge.deny('ARITHMETIC_NOT_KNOWN', `${test.operator} runs what it finds in an index`, rangeOf(test, scope))
      }
      return
    case 'TestBinary':
      judgeExpansions(walk, test.left, scope)
      judgeExpansions(walk, test.right, { ...scope, pattern: true })
      if (numericTests.has(test.operator)) {
        judgeNumber(walk, test.left, scope)
        judgeNumber(walk, test.right, scope)
      }
      return
    case 'TestLogical':
      for (const operand of test.operands) judgeTest(walk, operand, scope)
      return
    case 'TestNot':
      judgeTest(walk, test.operand, scope)
      return
    case 'TestGroup':
      judgeTest(walk, test.expression, scope)
      return
  }
}

const numericTests = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge'])

/** A word that the shell evaluates as arithmetic. */
function judgeNumber(walk: WalkContext, word: Word, scope: Scope): void {
  judgeExpansions(walk, word, { ...scope, loose: true })
  // A tilde that names nobody stays one, and is an operator here.
  const literal = literalOf(word)
  if (literal !== undefined || word.parts === undefined) judgeNames(walk, literal ?? word.value, scope, word)
  else for (const part of word.parts) judgeNumberPart(walk, part, scope)
}

function judgeArithmeticWord(
  walk: WalkContext,
  node: Extract<ArithmeticExpression, { type: 'ArithmeticWord' }>,
  scope: Scope,
): void {
  if (node.parts === undefined) judgeNames(walk, node.value, scope, node)
  else for (const part of node.parts) judgeNumberPart(walk, part, scope)
}

function judgeNumberPart(walk: WalkContext, part: NonNullable<Word['parts']>[number], scope: Scope): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      judgeNames(walk, part.value, scope, part)
      return
    case 'SimpleExpansion':
      judgeNames(walk, part.text.slice(1), scope, part)
      return
    case 'ParameterExpansion':
      if (part.prefix === '#') return
      if (part.prefix === undefined && part.operation === undefined && part.index === undefined) {
        judgeNames(walk, part.parameter, scope, part)
        return
      }
      break
    case 'ArithmeticExpansion':
      return
    case 'DoubleQuoted':
      for (const inner of part.parts) judgeNumberPart(walk, inner, scope)
      return
    case 'CommandExpansion':
      if (isNumericCommand(part.text)) return
      break
    default:
  }
  notKnown(walk, part.type, scope, part)
}

/** Every name in it must hold a number: the shell runs the substitutions that it finds in the value of any other. */
function judgeNames(
  walk: WalkContext,
  text: string,
  scope: Scope,
  node: { readonly pos: number; readonly end: number },
): void {
  if (/[$`\\'"]/.test(text) && text !== '$') {
    notKnown(walk, text, scope, node)
    return
  }
  for (const [name] of text.matchAll(/(?<![\w#@])[A-Za-z_]\w*/g)) {
    if (!walk.facts.isNumeric(name)) notKnown(walk, name, scope, node)
  }
}

function notKnown(
  walk: WalkContext,
  what: string,
  scope: Scope,
  node: { readonly pos: number; readonly end: number },
): void {
  walk.judge.deny(
    'ARITHMETIC_NOT_KNOWN',
    `Arithmetic on ${JSON.stringify(what)}, which may hold commands`,
    rangeOf(node, scope),
  )
}
