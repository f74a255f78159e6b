import { forEachChild, type ParsedScript, type SyntaxNode, type Word } from 'unbash'
import { numericVariables } from './variables.ts'
import { literalOf } from './words.ts'

/** What has to be known of a whole script before any part of it is judged. */
export interface Facts {
  /** Whether a variable holds a whole number at any moment. Arithmetic runs what stands in any other. */
  isNumeric(name: string): boolean
  readonly functions: ReadonlySet<string>
  /** Some command of it may change the directory. */
  readonly moves: boolean
}

export function factsOf(script: ParsedScript): Facts {
  const numeric = new Set<string>()
  const others = new Set<string>()
  const functions = new Set<string>()
  let moves = false

  function assign(name: string, isNumber: boolean): void {
    ;(isNumber ? numeric : others).add(name)
  }

  function visit(node: SyntaxNode): void {
    switch (node.type) {
      case 'Assignment':
        assign(node.name, node.value.type === 'Word' && isNumber(node.value))
        break
      case 'For':
      case 'Select':
        assign(node.name.value, node.type === 'For' && (node.wordlist?.every(isNumber) ?? false))
        break
      case 'Function':
        functions.add(node.name.value)
        break
      case 'ParameterExpansion':
        if (node.operation?.type === 'Default') assign(node.parameter, isNumber(node.operation.operand))
        break
      case 'ArithmeticBinary':
        if (node.operator.endsWith('=') && node.left.type === 'ArithmeticWord') assign(node.left.value, true)
        break
      case 'Command': {
        const name = node.name?.value ?? ''
        if (movers.has(name)) moves = true
        if (assigners.has(name)) {
          for (const word of node.args) if (word.type === 'Word') others.add(word.value.replace(/\[.*/s, ''))
        }
        break
      }
      default:
    }
    forEachChild(node, visit)
  }

  visit(script)
  return {
    isNumeric: (name) => numericVariables.has(name) || (numeric.has(name) && !others.has(name)),
    functions,
    moves,
  }
}

const movers = new Set(['cd', 'pushd', 'popd', 'eval', 'command', 'builtin'])
const assigners = new Set(
  'read mapfile readarray printf getopts declare typeset local export readonly let wait'.split(' '),
)

/** A number, or an expansion that can be nothing else. What its own parts hold is judged where they stand. */
function isNumber(word: Word): boolean {
  const literal = literalOf(word)
  if (literal !== undefined) return /^-?\d+$/.test(literal)
  return word.parts?.every(isNumberPart) ?? false
}

function isNumberPart(part: NonNullable<Word['parts']>[number]): boolean {
  if (part.type === 'ArithmeticExpansion') return true
  if (part.type === 'BraceExpansion') return /^\{-?\d+\.\.-?\d+(\.\.-?\d+)?\}$/.test(part.text)
  if (part.type === 'SimpleExpansion') return /^\$[?#$!]$/.test(part.text)
  if (part.type === 'ParameterExpansion') return part.prefix === '#' && part.operation === undefined
  if (part.type === 'DoubleQuoted') return part.parts.length > 0 && part.parts.every(isNumberPart)
  return part.type === 'CommandExpansion' && isNumericCommand(part.text)
}

/** Commands whose output is one or more numbers, whatever the files hold. */
export function isNumericCommand(text: string): boolean {
  return /^\$\(\s*(nproc|date \+%s|seq( -?\d+){1,3}|wc -[lcw] < ?[\w./-]+)\s*\)$/.test(text)
}
