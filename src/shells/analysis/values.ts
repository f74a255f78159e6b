import {
  type AndOr,
  type Assignment,
  forEachChild,
  type ParsedScript,
  type PipelineNode,
  parse,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash'
import type { LogicalPath } from '../../paths/logical-path.ts'
import { CertainNames, noteCertain } from './certain-names.ts'
import { evaluatedText, isAssignment, type ScriptFacts, sharesShell } from './script-facts.ts'
import { isDangerousVariable, numericVariables } from './variables.ts'
import { argumentsOf, type Binding, expandsInBrackets, type Piece, piecesOf } from './words.ts'

/** A possible value of a variable, as its parts in order. */
type Value = readonly Piece[]

/** What is known about the file that contains a script. Paths are absolute. */
export interface ScriptPlace {
  readonly directory: string
  readonly name: string
  /** The directory in which it runs. */
  readonly cwd: LogicalPath
}

const MAX_VALUES = 16
const MAX_BINDINGS = 32
const MAX_ROUNDS = 2000

/** A value of which nothing is known. */
const OPEN: readonly Value[] = [[{}]]

interface Source {
  readonly word: Word
  /** The variables in the word that are certainly set by the script at this point. */
  readonly certain: ReadonlySet<string>
  /** The directory is still the initial one. */
  readonly isEarly: boolean
}

/** The values that the variables of a script may have, wherever they are read. */
export class ScriptValues {
  readonly #facts: ScriptFacts
  readonly #place: ScriptPlace | undefined
  readonly #sources = new Map<string, Source[]>()
  readonly #opaque = new Set<string>()
  /** A command sets variables whose names are only known at run time. */
  #isOpaque = false
  /** Variables that a command removes, or declares without a value. */
  readonly #emptied = new Set<string>()
  readonly #known = new Map<string, readonly Value[]>()
  /** The values found so far of variables that are being evaluated. */
  readonly #pending = new Map<string, readonly Value[]>()
  /** In a script that runs a text in its shell: the words that are expanded once, before or in that command. */
  readonly #early = new Set<SyntaxNode>()
  #rounds = 0
  /** Depth of the functions and loops around a node. */
  #depth = 0
  #moved = false

  constructor(script: ParsedScript, facts: ScriptFacts, place: ScriptPlace | undefined) {
    this.#facts = facts
    this.#place = place
    if (facts.isShared) this.#noteEarly(script)
    else this.#visit(script, new CertainNames(undefined, facts.risks))
  }

  /**
   * Returns the bindings of the variables in these nodes with known values, one for each combination. Empty if no value is known,
   * or there are too many.
   */
  bindings(
    nodes: readonly SyntaxNode[],
    isCertain: (name: string) => boolean,
    isInitialCwd: boolean,
  ): readonly Binding[] {
    if (this.#facts.isShared && !nodes.every((node) => this.#early.has(node))) return []
    let bindings: Map<string, Value>[] = [new Map()]
    for (const [text, part] of expansionsIn(nodes)) {
      const values = this.#valuesOfPart(part, isCertain, isInitialCwd).filter(
        (value) => isInitialCwd || value.every(({ directory, isAbsolute }) => directory === undefined || isAbsolute),
      )
      if (values.length === 0 || values.some(isOpen)) continue
      if (bindings.length * values.length > MAX_BINDINGS) continue
      bindings = bindings.flatMap((binding) => values.map((value) => new Map([...binding, [text, value]])))
    }
    return bindings.length === 1 && bindings[0]?.size === 0 ? [] : bindings
  }

  /** Notes the words up to the first command that may change the shell. Returns false when there is such a command. */
  #noteEarly(node: SyntaxNode | ParsedScript): boolean {
    if (node.type === 'Function' || 'body' in node) return !mayShare(node)
    if (node.type === 'Command' && node.name !== undefined) {
      const words = [node.name, ...node.args]
      for (const word of words) this.#early.add(word)
      return !sharesShell(textsOf(words))
    }
    const parts: (SyntaxNode | ParsedScript)[] = []
    forEachChild(node as SyntaxNode, (child) => void parts.push(child))
    return parts.every((part) => this.#noteEarly(part))
  }

  #visit(node: SyntaxNode | ParsedScript, certain: CertainNames): void {
    if (node.type === 'Script' || node.type === 'CompoundList') {
      const inner = new CertainNames(certain)
      for (const statement of node.commands) {
        this.#visit(statement.command, inner)
        if (statement.background !== true) noteCertain(statement.command, inner)
      }
      return
    }
    const repeats =
      node.type === 'While' || node.type === 'For' || node.type === 'ArithmeticFor' || node.type === 'Select'
    const inner = new CertainNames(certain)
    if (node.type === 'Function') inner.enterFunction()
    if (node.type === 'For') inner.addVariable(node.name.value)
    if (repeats || node.type === 'Function') this.#depth += 1
    this.#note(node, certain)
    const moved = this.#moved
    if ('script' in node) {
      if (node.script !== undefined) this.#visit(node.script, inner)
      this.#moved = moved
    } else forEachChild(node, (child) => this.#visit(child, inner))
    if (repeats || node.type === 'Function') this.#depth -= 1
  }

  #note(node: SyntaxNode, certain: CertainNames): void {
    switch (node.type) {
      case 'Assignment':
        if (node.append === true || node.index !== undefined || node.value.type !== 'Word') this.#opaque.add(node.name)
        else this.#addSource(node.name, node.value, certain)
        return
      case 'For':
        if (node.wordlist?.every((word) => word.parts === undefined) === true)
          for (const word of node.wordlist) this.#addSource(node.name.value, word, certain)
        else this.#opaque.add(node.name.value)
        return
      case 'Select':
      case 'Coproc':
        this.#opaque.add(node.name?.value ?? 'COPROC')
        return
      case 'ParameterExpansion':
        if (node.operation?.type === 'Default' && node.operation.operator.endsWith('='))
          this.#addSource(node.parameter, node.operation.operand, certain)
        return
      case 'ArithmeticBinary':
        if (isAssignment(node.operator) && node.left.type === 'ArithmeticWord') this.#opaque.add(node.left.value)
        return
      case 'ArithmeticUnary':
        if (node.operand.type === 'ArithmeticWord') this.#opaque.add(node.operand.value)
        return
      case 'Redirect':
      case 'HereDoc':
      case 'HereString':
        if (node.descriptor?.type === 'FileDescriptorVariable') this.#opaque.add(node.descriptor.name)
        return
      case 'Command':
        if (node.name !== undefined) this.#noteCommand([node.name, ...node.args], certain)
        return
      default:
    }
  }

  #noteCommand(nodes: readonly (Word | Assignment)[], certain: CertainNames): void {
    const text = evaluatedText(nodes.flatMap((node) => argumentsOf(node)))
    if (text !== undefined) for (const { command } of parse(text).commands) this.#visit(command, certain)
    // A brace list may contain several names.
    const words = nodes.filter(({ type }) => type === 'Word').flatMap((word) => argumentsOf(word))
    const texts = words.map(({ literal, lead }) => literal ?? lead)
    if (movers.has(texts[0] ?? '')) this.#moved = true
    const setter = texts.find((word) => setters.has(word))
    if (setter === undefined || (setter === 'printf' && !texts.some((word) => word.startsWith('-v')))) return
    for (const [index, word] of texts.entries()) {
      const name = /^[A-Za-z_]\w*/.exec(word)?.[0]
      const isLiteral = words[index]?.literal !== undefined
      if (word.startsWith('-')) {
        // A name may follow an option in the same word: `printf -vname`, `read -raname`.
        for (let at = 2; at < word.length; at++) this.#opaque.add(word.slice(at))
      } else if (!isLiteral && (name === undefined || name === word)) this.#isOpaque = true
      else if (name === undefined || (exporters.has(setter) && name === word)) continue
      else if (emptiers.has(setter) && name === word) this.#emptied.add(name)
      else this.#opaque.add(name)
    }
  }

  #addSource(name: string, word: Word, certain: CertainNames): void {
    const source: Source = {
      word,
      certain: new Set([...namesIn(word)].filter((each) => certain.hasVariable(each))),
      isEarly: !this.#moved && this.#depth === 0,
    }
    this.#sources.set(name, [...(this.#sources.get(name) ?? []), source])
  }

  #valuesOf(name: string): readonly Value[] {
    const known = this.#known.get(name) ?? this.#pending.get(name)
    if (known !== undefined) return known
    const sources = this.#sources.get(name)
    if (sources === undefined || this.#isOpaque || this.#opaque.has(name) || isSpecial(name)) return OPEN
    let values = distinct(this.#emptied.has(name) ? [[]] : [])
    // A variable that is assigned from itself needs another round.
    for (let isStable = false; !isStable; ) {
      this.#pending.set(name, values)
      this.#rounds += 1
      const next =
        this.#rounds > MAX_ROUNDS
          ? OPEN
          : distinct([
              ...values,
              ...sources.flatMap(({ word, certain, isEarly }) =>
                this.#valuesOfWord(word, (each) => certain.has(each), isEarly),
              ),
            ])
      isStable = next === OPEN || next.length === values.length
      values = next
    }
    this.#pending.delete(name)
    // The values of a variable that depends on a pending one may be incomplete.
    if (this.#pending.size === 0) this.#known.set(name, values)
    return values
  }

  #valuesOfWord(word: Word, isCertain: (name: string) => boolean, isEarly: boolean): readonly Value[] {
    let values: readonly Value[] = [[]]
    const parts = word.parts?.flatMap<WordPart>((part) => (part.type === 'DoubleQuoted' ? part.parts : [part]))
    if (parts === undefined) return [piecesOf(word)]
    for (const [index, part] of parts.entries()) {
      const more =
        part.type === 'Literal' && (index === 0 || part.text.includes('~')) && /^~|[:=]~/.test(part.text)
          ? OPEN
          : this.#valuesOfPart(part, isCertain, isEarly)
      if (values.length * more.length > MAX_VALUES) return OPEN
      values = values.flatMap((value) => more.map((other) => joined([...value, ...other])))
    }
    return distinct(values)
  }

  #valuesOfPart(part: WordPart, isCertain: (name: string) => boolean, isEarly: boolean): readonly Value[] {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return [[{ text: part.value }]]
      case 'Glob':
        return expandsInBrackets(part) ? OPEN : [[{ text: part.value }]]
      case 'SimpleExpansion':
        return this.#valuesOfName(part.text.slice(1), isCertain)
      case 'ParameterExpansion':
        return this.#valuesOfParameter(part, isCertain, isEarly)
      case 'CommandExpansion':
        return part.script === undefined ? OPEN : this.#valuesOfCommand(part.script, isCertain, isEarly)
      default:
        return OPEN
    }
  }

  #valuesOfName(name: string, isCertain: (name: string) => boolean): readonly Value[] {
    const place = this.#place
    if (name === '0' || name === 'BASH_SOURCE')
      return place === undefined ? OPEN : [[{ directory: place.directory }, { text: `/${place.name}` }]]
    return isCertain(name) ? this.#valuesOf(name) : OPEN
  }

  #valuesOfParameter(
    { parameter, prefix, index, operation }: Extract<WordPart, { type: 'ParameterExpansion' }>,
    isCertain: (name: string) => boolean,
    isEarly: boolean,
  ): readonly Value[] {
    if (prefix !== undefined || (index !== undefined && `${parameter} ${index.text}` !== 'BASH_SOURCE 0')) return OPEN
    if (operation?.type === 'Default') {
      const operand = this.#valuesOfWord(operation.operand, isCertain, isEarly)
      if (operation.operator.endsWith('+')) return distinct([[], ...operand])
      const values = this.#valuesOfName(parameter, isCertain)
      return operation.operator.endsWith('?') ? values : distinct([...values, ...operand])
    }
    const values = this.#valuesOfName(parameter, isCertain)
    if (operation === undefined) return values
    if (operation.type !== 'Remove') return OPEN
    if (operation.operator === '%' && operation.operand.text === '/*') return distinct(values.map(withoutName))
    if (operation.operator === '##' && operation.operand.text === '*/') return distinct(values.map(nameOf))
    return OPEN
  }

  /** Returns the possible outputs of commands that only compute a path. */
  #valuesOfCommand(script: ParsedScript, isCertain: (name: string) => boolean, isEarly: boolean): readonly Value[] {
    if (script.commands.some(({ background }) => background === true)) return OPEN
    const commands = script.commands.flatMap<PipelineNode | AndOr | null>(({ command }) =>
      command.type === 'AndOr' && command.operators.every((operator) => operator === '&&')
        ? command.commands
        : command.type === 'Pipeline' && command.prefixes.length === 0
          ? [...command.commands, null]
          : [command],
    )
    const calls = commands.map((command) => (command?.type === 'Command' ? callOf(command) : undefined))
    const names = calls.map((call) => call?.name).join(' ')
    const [first, second] = calls
    if (first === undefined || names.split(' ').some((name) => this.#facts.functions.has(name))) return OPEN
    const values = (): readonly Value[] => this.#valuesOfWord(first.operand, isCertain, isEarly)
    switch (names) {
      case 'dirname':
        return distinct(values().map(directoryOf))
      case 'basename':
        return distinct(values().map(nameOf))
      case 'cygpath':
        return values().every((value) => value.length === 1 && value[0]?.directory !== undefined) ? values() : OPEN
      case 'cd pwd':
        // Without `&&`, the directory may be missing.
        return isEarly && (script.commands.length === 1 || values().every(({ length }) => length === 1))
          ? distinct(values().map(asAbsolute))
          : OPEN
      case 'echo sed ':
        return second?.operand.text.replace(/^(["'])(.*)\1$/, '$2') === 's,\\\\,/,g'
          ? distinct(values().map(asPrinted))
          : OPEN
      default:
        return OPEN
    }
  }
}

function textsOf(nodes: readonly (Word | Assignment)[]): string[] {
  return nodes.flatMap((node) => argumentsOf(node)).map(({ literal, lead }) => literal ?? lead)
}

/** Whether a command in a node may change the shell of the script. */
function mayShare(node: SyntaxNode): boolean {
  let shares = node.type === 'Command' && node.name !== undefined && sharesShell(textsOf([node.name, ...node.args]))
  forEachChild(node, (child) => {
    shares ||= mayShare(child)
  })
  return shares
}

const movers = new Set(['cd', 'chdir', 'pushd', 'popd', 'command', 'builtin', 'eval'])
const exporters = new Set(['export', 'readonly'])
const emptiers = new Set(['local', 'declare', 'typeset', 'unset'])
const setters = new Set(['read', 'mapfile', 'readarray', 'printf', 'getopts', 'wait', ...exporters, ...emptiers])

/** Variables that a shell sets by itself, or that have other values than those assigned to them. */
function isSpecial(name: string): boolean {
  return isDangerousVariable(name) || numericVariables.has(name) || SPECIAL.test(name)
}

const SPECIAL = /^(_|PWD|OLDPWD|DIRSTACK|REPLY|MAPFILE|OPT\w+|COPROC|FUNCNAME|GROUPS|PIPESTATUS|HIST\w+|EPOCH\w+)$/

interface PathCall {
  readonly name: string
  readonly operand: Word
}

const NOTHING: Word = { type: 'Word', text: '', value: '', pos: 0, end: 0 }

/** Returns a command with one operand, or `pwd`, without the options that do not change which file its output names. */
function callOf({ name, prefix, args, redirects }: Extract<SyntaxNode, { type: 'Command' }>): PathCall | undefined {
  if (redirects.some(({ descriptor }) => descriptor?.type !== 'FileDescriptor' || descriptor.value !== 2))
    return undefined
  if (prefix.some((part) => part.type !== 'Assignment' || part.text !== 'CDPATH=')) return undefined
  const operands = args.filter(({ text }) => text !== '--' && !/^-[PLwme]$/.test(text))
  const [operand = NOTHING, ...others] = operands
  if (name === undefined || operand.type !== 'Word' || others.length > 0) return undefined
  return (operand === NOTHING) === (name.text === 'pwd') ? { name: name.text, operand } : undefined
}

/** Returns the expansions in words that may be bound to a value, by their texts. */
function expansionsIn(nodes: readonly SyntaxNode[]): Map<string, Expansion> {
  const found = new Map<string, Expansion>()
  const visit = (part: WordPart): void => {
    if (part.type === 'DoubleQuoted') part.parts.forEach(visit)
    else if (part.type === 'SimpleExpansion' || part.type === 'ParameterExpansion' || part.type === 'CommandExpansion')
      found.set(part.text, part)
  }
  for (const node of nodes) {
    const word = node.type === 'Assignment' ? node.value : node
    if (word.type === 'Word') word.parts?.forEach(visit)
  }
  return found
}

/** Returns the names of the variables that a word reads, also in the commands in it. */
function namesIn(word: SyntaxNode): Set<string> {
  const names = new Set<string>()
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'SimpleExpansion') names.add(node.text.slice(1))
    else if (node.type === 'ParameterExpansion') names.add(node.parameter)
    if ('script' in node) for (const { command } of node.script?.commands ?? []) visit(command)
    forEachChild(node, visit)
  }
  visit(word)
  return names
}

type Expansion = Extract<WordPart, { type: 'SimpleExpansion' | 'ParameterExpansion' | 'CommandExpansion' }>

function isOpen(value: Value): boolean {
  return value.length === 1 && value[0]?.text === undefined && value[0]?.directory === undefined
}

function distinct(values: readonly Value[]): readonly Value[] {
  if (values.some(isOpen)) return OPEN
  const all = [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
  return all.length > MAX_VALUES ? OPEN : all
}

/** Joins texts that follow each other. */
function joined(pieces: readonly Piece[]): Value {
  const value: Piece[] = []
  for (const piece of pieces) {
    const last = value.at(-1)
    if (last?.text !== undefined && piece.text !== undefined) value[value.length - 1] = { text: last.text + piece.text }
    else value.push(piece)
  }
  return value
}

/** Splits a value before its last slash. */
function splitName(value: Value): { readonly before: Value; readonly name: string } | undefined {
  const last = value.at(-1)?.text
  const slash = last?.lastIndexOf('/') ?? -1
  if (last === undefined || slash === -1) return undefined
  const start = last.slice(0, slash)
  return {
    before: start === '' ? value.slice(0, -1) : [...value.slice(0, -1), { text: start }],
    name: last.slice(slash + 1),
  }
}

const UNKNOWN: Value = [{}]

/** Returns the value without its last name, as the expansion with `%` does. */
function withoutName(value: Value): Value {
  return splitName(value)?.before ?? (value.every(({ text }) => text !== undefined) ? value : UNKNOWN)
}

/** Returns the last name of a path, for one that does not end in a slash. */
function nameOf(value: Value): Value {
  const name = splitName(value)?.name ?? (value.length === 1 ? value[0]?.text : undefined)
  return name === undefined || !/^[\w.@+][\w.@+-]*$/.test(name) ? UNKNOWN : [{ text: name }]
}

/** Returns the output of `dirname`. */
function directoryOf(value: Value): Value {
  const split = splitName(value)
  return split === undefined || !/^[\w.@+][\w.@+-]*$/.test(split.name) || split.before.length === 0
    ? UNKNOWN
    : split.before
}

/** Returns the output of `cd value && pwd`. */
function asAbsolute(value: Value): Value {
  const [first, rest, ...others] = value
  const text = rest?.text ?? ''
  if (first?.directory === undefined || others.length > 0 || !/^(\/[\w.@+][\w.@+-]*)*\/?$/.test(text)) return UNKNOWN
  return [{ directory: first.directory + text.replace(/\/$/, ''), isAbsolute: true }]
}

/** Returns the output of `echo`, with slashes for backslashes. */
function asPrinted(value: Value): Value {
  return value.some(({ text }) => text !== undefined && /[\\\n]|^-/.test(text)) ? UNKNOWN : value
}
