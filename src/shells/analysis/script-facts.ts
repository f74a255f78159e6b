import {
  type AndOr,
  type Assignment,
  type Command,
  forEachChild,
  type ParsedScript,
  type PipelineNode,
  parse,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash'
import type { AssignmentRisks } from './certain-names.ts'
import { inheritedVariables, numericVariables, shellTextVariables } from './variables.ts'
import { type Argument, argumentsOf, knownText, literalOf } from './words.ts'

/** Facts about a whole script that the analysis of its parts needs. */
export interface ScriptFacts {
  /**
   * Whether a variable always holds a whole number. Arithmetic runs substitutions in other values. A variable such as
   * `RANDOM` loses its special meaning when it is assigned.
   */
  isNumeric(name: string): boolean
  /**
   * Whether a variable is certainly an associative array at a position of the script, where its subscripts are texts. `empty`: and
   * whether it had no values when it was declared.
   */
  isAssociative(name: string, position: number, empty?: boolean): boolean
  readonly risks: AssignmentRisks
  /** A text that is not a part of the script may set its variables. */
  readonly isShared: boolean
  /** The script, or another text in its shell, may change how unquoted expansions are split into words. */
  readonly setsSeparators: boolean
  readonly functions: ReadonlySet<string>
  /** The variables that may be arrays. */
  readonly arrays: ReadonlySet<string>
  /** A command may remove a function, so that its name starts a program again. */
  readonly removesFunctions: boolean
  /** A command may change the directory. */
  readonly changesCwd: boolean
  /** A command may change the directory, also within a substitution. */
  readonly movesAnywhere: boolean
  /** A command in a function may change the directory. */
  readonly functionsChangeCwd: boolean
}

/** Collects the facts of a script. With `isEval`, another script in the same shell may set the same variables. */
export function collectFacts(script: ParsedScript, isEval = false): ScriptFacts {
  const collector = new FactCollector(isEval)
  collector.collect(script)
  return collector.facts()
}

/** Texts in `eval` in such texts are not looked at, because the analysis of each text looks at those in it again. */
const MAX_TEXT_DEPTH = 2

class FactCollector {
  readonly #numeric = new Set<string>()
  readonly #others = new Set(shellTextVariables)
  readonly #functions = new Set<string>()
  readonly #arrays = new Set(['DIRSTACK', 'COPROC', 'MAPFILE'])
  readonly #frozen = new Map<string, number>()
  /** The associative arrays that a statement of the whole script declares, once. */
  readonly #associative = new Map<string, AssociativeArray>()
  /** The variables that a command may declare in another way, or remove. */
  readonly #redeclared = new Set<string>()
  #redeclaresAny = false
  #hasTextKeys = false
  /** The variables whose numbers come from these variables of the shell, or from the subscripts of arrays (`[]`). */
  readonly #copies = new Map<string, Set<string>>()
  /** Names that a command may remove; `undefined` for any name. */
  readonly #removed: (string | undefined)[] = []
  #hasOddNumbers = false
  #moves = false
  #movesAnywhere = false
  #movesInFunction = false
  #isShared: boolean
  #setsSeparators = false
  #textDepth = 0
  #depth = 0

  constructor(isEval: boolean) {
    this.#isShared = isEval
    this.#movesAnywhere = isEval
  }

  facts(): ScriptFacts {
    const functions = this.#functions
    return {
      isNumeric: (name) => this.#isNumeric(name),
      isAssociative: (name, position, empty = false) => {
        const declared = this.#associative.get(name)
        const isPlain = !this.#isShared && !this.#redeclaresAny && !this.#redeclared.has(name)
        return isPlain && declared !== undefined && position > declared.command.end && (!empty || declared.isEmpty)
      },
      risks: { frozen: this.#frozen, hasOddNumbers: this.#hasOddNumbers },
      isShared: this.#isShared,
      setsSeparators: this.#isShared || this.#setsSeparators,
      functions,
      arrays: this.#arrays,
      removesFunctions: this.#removed.some((name) => name === undefined || functions.has(name)),
      changesCwd: this.#moves,
      movesAnywhere: this.#movesAnywhere,
      functionsChangeCwd: this.#movesInFunction,
    }
  }

  #isNumeric(name: string): boolean {
    if (this.#isShared || this.#others.has(name)) return false
    const sources = [...(this.#copies.get(name) ?? [])]
    if (sources.some((source) => (source === '[]' ? this.#hasTextKeys : this.#others.has(source)))) return false
    return this.#numeric.has(name) || numericVariables.has(name)
  }

  collect(script: ParsedScript): void {
    for (const { command, background } of script.commands)
      if (background !== true) for (const one of associativeIn(command)) this.#associative.set(one.name, one)
    this.visit(script)
  }

  visit(node: SyntaxNode): void {
    switch (node.type) {
      case 'Assignment':
        if (this.#textDepth > 0 || node.pos < (this.#associative.get(node.name)?.command.pos ?? 0))
          this.#redeclared.add(node.name)
        if (node.value.type === 'Word' || node.value.elements.length > 0)
          this.#assign(node.name, node.value.type === 'Word' ? [node.value] : undefined)
        if (node.value.type === 'ArrayValue' || node.index !== undefined) this.#arrays.add(node.name)
        break
      case 'For':
      case 'Select':
        this.#assign(node.name.value, node.type === 'For' ? node.wordlist : undefined)
        break
      case 'Function':
        this.#functions.add(node.name.value)
        this.#depth += 1
        break
      case 'ArithmeticWord':
        if (node.value.includes('[')) this.#arrays.add(nameIn(node.value))
        break
      case 'ParameterExpansion':
        if (node.index !== undefined) this.#arrays.add(node.parameter)
        if (node.operation?.type === 'Default' && node.operation.operator.endsWith('='))
          this.#assign(node.parameter, [node.operation.operand])
        break
      case 'ArithmeticBinary':
        if (isAssignment(node.operator) && node.left.type === 'ArithmeticWord') this.#assign(node.left.value, 'number')
        break
      case 'Command':
        if (node.name !== undefined) this.#visitCommand([node.name, ...node.args], node)
        break
      default:
    }
    if ('script' in node) this.#visitSubstitution(node.script)
    else forEachChild(node, (child) => this.visit(child))
    if (node.type === 'Function') this.#depth -= 1
  }

  #assign(name: string, words: readonly Word[] | 'number' | undefined): void {
    if (name === 'IFS') this.#setsSeparators = true
    const holdsNumber = words === 'number' || words?.every(isNumber) === true
    ;(holdsNumber ? this.#numeric : this.#others).add(name)
    if (!holdsNumber || words === 'number') return
    if (!words.every(isPlainNumber)) this.#hasOddNumbers = true
    const copied = this.#copies.get(name) ?? new Set()
    for (const part of words.flatMap(({ parts = [] }) => parts)) for (const source of copiedIn(part)) copied.add(source)
    if (copied.size > 0) this.#copies.set(name, copied)
  }

  /** A change of the directory ends with a substitution. */
  #visitSubstitution(script: ParsedScript | undefined): void {
    const before = { moves: this.#moves, functions: this.#functions.size }
    for (const command of script?.commands ?? []) this.visit(command)
    if (this.#functions.size === before.functions) this.#moves = before.moves
  }

  /** Looks at a text that the shell of the script runs. */
  #visitText(text: string): void {
    if (this.#textDepth >= MAX_TEXT_DEPTH) {
      this.#isShared = true
      return
    }
    const script = parse(text)
    if (script.errors !== undefined && script.errors.length > 0) this.#isShared = true
    this.#textDepth += 1
    for (const command of script.commands) this.visit(command)
    this.#textDepth -= 1
  }

  /** Looks at all words of a command, because `builtin` and `command` may precede the name. */
  #visitCommand(nodes: readonly (Word | Assignment)[], node: Command): void {
    const args = nodes.flatMap((node) => argumentsOf(node))
    const words = args.map(({ literal, lead }) => literal ?? lead)
    this.#removed.push(...removedBy(args, words))
    if (this.#depth > 0 && isSource(words)) this.#removed.push(undefined)
    const text = evaluatedText(args)
    if (text !== undefined) this.#visitText(text)
    else if (sharesShell(words)) this.#isShared = true
    if (movers.has(words[0]) || prefixes.has(words[0])) this.#moves = this.#movesAnywhere = true
    if (this.#depth > 0 && words.some((word) => movers.has(word))) this.#movesInFunction = true
    const declares = words.some((word) => declarers.has(word))
    const freezes = declares && words.some((word) => word === 'readonly' || /^-\w*r/.test(word))
    const sets = words.some((word) => setters.has(word))
    const makesArrays = words.some((word) => arrayMakers.has(word) || /^-\w*[aA]/.test(word))
    const declared = [...this.#associative].filter(([, { command }]) => command === node).map(([name]) => name)
    if (declares || sets || makesArrays || words.includes('unset')) {
      if (args.some(({ literal, lead }) => literal === undefined && !/^\w+=/.test(lead))) this.#redeclaresAny = true
      for (const word of words) if (!declared.includes(nameIn(word))) this.#redeclared.add(nameIn(word))
    }
    if (words.some((word) => /^-\w*[An]/.test(word))) this.#hasTextKeys = true
    for (const word of words) {
      if (declared.includes(nameIn(word))) continue
      if (word === 'IFS') this.#setsSeparators = true
      if (makesArrays) this.#arrays.add(nameIn(word.replace(/^-\w*?a/, '')))
      if (declares) this.#others.add(nameIn(word))
      if (freezes) this.#frozen.set(nameIn(word), (this.#frozen.get(nameIn(word)) ?? 0) + 1)
      // The name may be in the same word as the option: `printf -vname`, `read -raname`.
      if (sets) this.#others.add(word.replace(/^-([ersE]*a|v)|\[.*/gs, ''))
    }
  }
}

/** Returns the variables of the shell that an expansion of a number copies; `[]` for the subscripts of an array. */
function copiedIn(part: WordPart): readonly string[] {
  if (part.type === 'DoubleQuoted') return part.parts.flatMap(copiedIn)
  if (part.type === 'SimpleExpansion') return [part.text.slice(1)]
  if (part.type !== 'ParameterExpansion' || part.prefix === '#') return []
  return [part.prefix === '!' ? '[]' : part.parameter]
}

interface AssociativeArray {
  readonly name: string
  /** The statement that declares it. */
  readonly command: Command
  /** It drops the value that the variable had before. */
  readonly isEmpty: boolean
}

/** Returns the associative arrays that a statement declares and does nothing else. */
function associativeIn(command: PipelineNode | AndOr): AssociativeArray[] {
  if (command.type !== 'Command' || command.redirects.length > 0 || command.prefix.length > 0) return []
  const [option, ...names] = command.args
  if (!/^(declare|typeset)$/.test(command.name?.text ?? '') || option?.text !== '-A') return []
  return names.flatMap((node): AssociativeArray[] => {
    if (node.type !== 'Assignment')
      return PLAIN_ARRAY.test(node.text) ? [{ name: node.text, isEmpty: false, command }] : []
    const isPlain = node.value.type === 'ArrayValue' && node.index === undefined && PLAIN_ARRAY.test(node.name)
    return isPlain ? [{ name: node.name, isEmpty: true, command }] : []
  })
}

/** Names that the shell uses for no array of its own. */
const PLAIN_ARRAY = /^(?!(BASH|COMP|FUNCNAME|GROUPS|PIPESTATUS|DIRSTACK|MAPFILE|COPROC))[A-Za-z]\w*$/

/** Returns the text that `eval` or `trap` runs, or `undefined` when it is another command or not known. */
export function evaluatedText([command, ...args]: readonly Argument[]): string | undefined {
  if (!evaluators.has(knownText(command)) || args.some(({ literal }) => literal === undefined)) return undefined
  const texts = args.map(knownText)
  if (texts[0] === '--') texts.shift()
  return command?.literal === 'eval' ? texts.join(' ') : /^-[lp]?$/.test(texts[0] ?? '') ? '' : texts[0]
}

/** Returns the names that a command may remove, by itself or by a text that it runs; `undefined` for any name. */
function removedBy(args: readonly Argument[], words: readonly string[]): (string | undefined)[] {
  if (words.includes('unset')) return args.map(({ literal }) => literal)
  const runsText = words.some((word) => evaluators.has(word))
  return runsText && words.some((word) => /\b(unset|source)\b|(^|\s)\.\s/.test(word)) ? [undefined] : []
}

/** Whether a command runs a file in the shell of the script. A dot is also an ordinary argument. */
function isSource([first, ...others]: readonly string[]): boolean {
  return sources.has(first) || (prefixes.has(first) && others.some((word) => sources.has(word)))
}

/** Whether a command runs a text or a file that may set the variables and functions of the script. */
export function sharesShell(words: readonly string[]): boolean {
  return isSource(words) || words.some((word) => evaluators.has(word))
}

const sources: ReadonlySet<string | undefined> = new Set(['source', '.'])
const prefixes: ReadonlySet<string | undefined> = new Set(['command', 'builtin'])
const movers: ReadonlySet<string | undefined> = new Set(['cd', 'chdir', 'pushd', 'popd', 'eval'])
const evaluators = new Set(['eval', 'trap'])
const declarers = new Set(['declare', 'typeset', 'local', 'export', 'readonly'])
const arrayMakers = new Set(['mapfile', 'readarray', 'coproc'])
const setters = new Set(['read', 'mapfile', 'readarray', 'printf', 'getopts'])

/** Whether an arithmetic operator assigns to its left side: `=`, `+=`, `<<=`, but not `<=`. */
export function isAssignment(operator: string): boolean {
  return /^([^=!<>]|<<|>>)?=$/.test(operator)
}

function nameIn(word: string): string {
  return word.replace(/\W.*/s, '')
}

/** Whether a number has no leading zero, with which `08` is an error in arithmetic. */
function isPlainNumber(word: Word): boolean {
  const literal = literalOf(word)
  if (literal !== undefined) return /^-?(0|[1-9]\d*)$/.test(literal)
  const [part, ...others] = word.parts ?? []
  const inner = part?.type === 'DoubleQuoted' && part.parts.length === 1 ? part.parts[0] : part
  return others.length === 0 && inner?.type !== 'DoubleQuoted' && !/(^|\D)0\d/.test(inner?.text ?? '0')
}

/** Whether a word is a number, or an expansion that is always a number. Its parts are checked separately. */
function isNumber(word: Word): boolean {
  const literal = literalOf(word)
  if (literal !== undefined) return /^-?\d+$/.test(literal)
  return word.parts?.every(isNumberPart) ?? false
}

function isNumberPart(part: NonNullable<Word['parts']>[number]): boolean {
  if (part.type === 'ArithmeticExpansion') return true
  if (part.type === 'BraceExpansion') return /^\{-?\d+\.\.-?\d+(\.\.-?\d+)?\}$/.test(part.text)
  if (part.type === 'SimpleExpansion') return /^\$[?#$!]$/.test(part.text) || isShellNumber(part.text.slice(1))
  if (part.type === 'ParameterExpansion') {
    if (part.prefix === '#') return true
    if (/^\$\{![A-Za-z]\w*\[[@*]\]\}$/.test(part.text)) return PLAIN_ARRAY.test(part.parameter)
    return part.text === `\${${part.parameter}}` && isShellNumber(part.parameter)
  }
  if (part.type === 'DoubleQuoted') return part.parts.every(isNumberPart)
  return isNumericCommand(part.text)
}

/** Whether the shell sets a variable to numbers, whatever its environment has. */
function isShellNumber(name: string): boolean {
  return numericVariables.has(name) && !inheritedVariables.has(name)
}

/** Whether the output of a command always consists of numbers. */
export function isNumericCommand(text: string): boolean {
  return /^\$\(\s*(nproc|date \+%s(%N)?|seq( -?\d+){1,3}|wc -[lcw] < ?([\w./-]+|"\$\w+")|stat -c '?%[YXZs]'? [\w./][\w./-]*)\s*\)$/.test(
    text,
  )
}
