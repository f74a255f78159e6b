import type {
  AndOr,
  ArithmeticExpression,
  Assignment,
  Command,
  CompoundList,
  PipelineNode,
  Word,
  WordPart,
} from 'unbash'

/** What the statements before a point of a script have certainly done: defined functions, and set variables. */
export class CertainNames {
  readonly #outer: CertainNames | undefined
  readonly #functions = new Set<string>()
  readonly #variables = new Set<string>()
  readonly risks: AssignmentRisks
  #forgetsFunctions = false
  #isInFunction: boolean

  constructor(outer?: CertainNames, risks?: AssignmentRisks) {
    this.#outer = outer
    this.risks = risks ?? outer?.risks ?? NO_RISKS
    this.#isInFunction = outer?.isInFunction ?? false
  }

  /** Whether `local` sets a variable at this point. */
  get isInFunction(): boolean {
    return this.#isInFunction
  }

  enterFunction(): void {
    this.#isInFunction = true
  }

  addFunction(name: string): void {
    this.#functions.add(name)
  }

  addVariable(name: string): void {
    this.#variables.add(name)
  }

  /** A sourced file may remove functions that are defined before it. */
  forgetFunctions(): void {
    this.#functions.clear()
    this.#forgetsFunctions = true
    this.#outer?.forgetFunctions()
  }

  hasFunction(name: string): boolean {
    if (this.#functions.has(name)) return true
    return !this.#forgetsFunctions && this.#outer?.hasFunction(name) === true
  }

  hasVariable(name: string): boolean {
    return this.#variables.has(name) || this.#outer?.hasVariable(name) === true
  }
}

/** What may make the assignments of a script fail. */
export interface AssignmentRisks {
  /** The variables that the script makes read-only, and how often. */
  readonly frozen: ReadonlyMap<string, number>
  /** A variable may hold a number such as `08`, on which arithmetic fails. */
  readonly hasOddNumbers: boolean
}

const NO_RISKS: AssignmentRisks = { frozen: new Map(), hasOddNumbers: false }

/** Notes what a statement has done once it has run. In bash, a script continues after an assignment that fails. */
export function noteCertain(node: PipelineNode | AndOr, certain: CertainNames): void {
  for (const name of assignedBy(node, certain) ?? []) certain.addVariable(name)
}

/** Notes the variables that an expression assigns before anything else. */
export function noteArithmetic(expression: ArithmeticExpression, certain: CertainNames): void {
  for (const name of assignedByArithmetic(expression, certain)) certain.addVariable(name)
}

/** Returns the variables that a statement certainly assigns, or `undefined` when nothing runs after it. */
function assignedBy(node: PipelineNode | AndOr | CompoundList, certain: CertainNames): readonly string[] | undefined {
  switch (node.type) {
    case 'Command':
      return assignedByCommand(node, certain)
    case 'ArithmeticCommand':
      return node.expression === undefined ? [] : assignedByArithmetic(node.expression, certain)
    case 'AndOr':
      return assignedBy(node.commands[0] as PipelineNode, certain) ?? []
    case 'Pipeline':
      return node.commands.length === 1 ? assignedBy(node.commands[0] as PipelineNode, certain) : []
    case 'BraceGroup':
      return assignedBy(node.body, certain)
    case 'CompoundList':
      return assignedByList(node, certain)
    case 'If':
      return node.else === undefined
        ? []
        : assignedByAll([node.then, ...node.elif.map(({ then }) => then), node.else], certain)
    case 'Case':
      return node.items.some(({ pattern }) => pattern.some(({ text }) => text === '*'))
        ? assignedByAll(
            node.items.map(({ body }) => body),
            certain,
          )
        : []
    default:
      return []
  }
}

function assignedByCommand(
  { name, prefix, args, redirects }: Command,
  certain: CertainNames,
): readonly string[] | undefined {
  if (redirects.length > 0) return []
  if (name === undefined) return namesOf(prefix, certain, 0)
  if (prefix.length > 0) return []
  // With several arguments, or one that may become several, `exit` fails.
  if (name.text === 'exit' && args.length < 2 && /^(\d*|\$\?|"\$\w+")$/.test(args[0]?.text ?? '')) return undefined
  if (name.text === 'readonly') return namesOf(args, certain, 1)
  const sets = name.text === 'export' || (name.text === 'local' && certain.isInFunction)
  return sets ? namesOf(args, certain, 0) : []
}

/** Returns the names in assignments if none of them can fail. `mentions` is how often a name may be made read-only. */
function namesOf(parts: readonly { readonly type: string }[], { risks }: CertainNames, mentions: number): string[] {
  const names: string[] = []
  for (const part of parts as readonly (Assignment | Word)[]) {
    if (part.type === 'Word' && part.parts === undefined && /^[A-Za-z_]\w*$/.test(part.text)) continue
    if (part.type !== 'Assignment' || part.append === true || part.index !== undefined) return []
    if (part.value.type !== 'Word' || !isSafeWord(part.value, risks)) return []
    if ((risks.frozen.get(part.name) ?? 0) > mentions || fixed.has(part.name)) return []
    names.push(part.name)
  }
  return new Set(names).size === names.length ? names : []
}

/** Variables that bash makes read-only. */
const fixed = new Set(['UID', 'EUID', 'PPID'])

function assignedByList({ commands }: CompoundList, certain: CertainNames): readonly string[] | undefined {
  const names: string[] = []
  for (const { command, background } of commands) {
    if (background === true) continue
    const more = assignedBy(command, certain)
    if (more === undefined) return undefined
    names.push(...more)
  }
  return names
}

/** Returns what every branch assigns, apart from those after which nothing runs. */
function assignedByAll(branches: readonly CompoundList[], certain: CertainNames): readonly string[] | undefined {
  const reached = branches.map((list) => assignedByList(list, certain)).filter((names) => names !== undefined)
  const [first, ...others] = reached
  return first?.filter((name) => others.every((names) => names.includes(name)))
}

function assignedByArithmetic(expression: ArithmeticExpression, certain: CertainNames): readonly string[] {
  if (expression.type !== 'ArithmeticBinary') return []
  const { operator, left, right } = expression
  if (operator === ',') return [...assignedByArithmetic(left, certain), ...assignedByArithmetic(right, certain)]
  const isAssigned = operator === '=' && left.type === 'ArithmeticWord' && isSafeArithmetic(right, certain.risks)
  return isAssigned && !certain.risks.frozen.has(left.value) && !fixed.has(left.value) ? [left.value] : []
}

/** Whether the expansion of a word cannot fail, or ends the script if it does. */
function isSafeWord(word: Word, risks: AssignmentRisks): boolean {
  return word.parts?.every((part) => isSafePart(part, risks)) ?? true
}

function isSafePart(part: WordPart, risks: AssignmentRisks): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
    case 'SimpleExpansion':
    case 'CommandExpansion':
      return true
    case 'Glob':
    case 'DoubleQuoted':
      return part.parts?.every((inner) => isSafePart(inner, risks)) ?? true
    case 'ArithmeticExpansion':
      return part.expression !== undefined && isSafeArithmetic(part.expression, risks)
    case 'ParameterExpansion': {
      const { operation } = part
      if (part.index !== undefined || part.prefix === '!') return false
      if (operation === undefined) return true
      if (operation.type === 'Default') return !operation.operator.endsWith('=') && isSafeWord(operation.operand, risks)
      return operation.type === 'Remove' && isSafeWord(operation.operand, risks)
    }
    default:
      return false
  }
}

/** Whether an expression of numbers cannot fail: it divides by nothing, and no number has a digit that its base lacks. */
function isSafeArithmetic(expression: ArithmeticExpression, risks: AssignmentRisks): boolean {
  switch (expression.type) {
    case 'ArithmeticWord':
      return /^\$?[A-Za-z_]|^\$\{[A-Za-z_]/.test(expression.value) && risks.hasOddNumbers
        ? false
        : /^(\d|[1-9]\d*|[A-Za-z_]\w*|\$[A-Za-z_#?]\w*|\$\{#?[A-Za-z_]\w*\})$/.test(expression.value)
    case 'ArithmeticGroup':
      return isSafeArithmetic(expression.expression, risks)
    case 'ArithmeticUnary':
      return /^[-+!~]$/.test(expression.operator) && isSafeArithmetic(expression.operand, risks)
    case 'ArithmeticTernary':
      return [expression.test, expression.consequent, expression.alternate].every((each) =>
        isSafeArithmetic(each, risks),
      )
    case 'ArithmeticBinary':
      return (
        /^([-+*&|^]|&&|\|\||==|!=|[<>]=?)$/.test(expression.operator) &&
        isSafeArithmetic(expression.left, risks) &&
        isSafeArithmetic(expression.right, risks)
      )
    default:
      return false
  }
}
