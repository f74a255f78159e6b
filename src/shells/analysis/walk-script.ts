import {
  type AndOr,
  type CommandNode,
  type CompoundList,
  type ParsedScript,
  type Pipeline,
  type PipelineNode,
  parse,
  type Statement,
} from 'unbash'
import { type Analysis, rangeOf, type Scope, type WalkContext } from './analysis.ts'
import { checkVariable } from './assignments.ts'
import { CertainNames, noteArithmetic, noteCertain } from './certain-names.ts'
import { splitTokenAt } from './characters.ts'
import { analyzeSimpleCommand, analyzeWords, MAX_DEPTH } from './command.ts'
import { allCwds, type CwdAfter, type PossibleCwds, unionCwds } from './cwd.ts'
import { checkExpansions, checkTest } from './expansions.ts'
import { checkRedirections } from './redirections.ts'
import { collectFacts, type ScriptFacts } from './script-facts.ts'
import { semicolonAt } from './separators.ts'
import { ScriptValues } from './values.ts'
import type { TextRange } from './verdict.ts'
import { literalOf } from './words.ts'

/** Analyzes the text of a script. */
export function analyzeSource(analysis: Analysis, text: string, scope: Scope, whole: TextRange): CwdAfter {
  const isNested = scope.via.length > 0
  if (scope.via.length > MAX_DEPTH || (isNested && !analysis.spend(text.length))) {
    analysis.deny('TOO_COMPLEX', 'The line has too many nested scripts', whole)
    return stay(scope.cwds)
  }
  const broken = splitTokenAt(text)
  if (broken !== undefined) {
    analysis.deny('SYNTAX_ERROR', 'A line is continued in the middle of a word', scope.at ?? [broken, broken + 2])
  }
  const script = parse(text)
  const facts = collectFacts(script, scope.isEval)
  // A line starts with the variables of the shell; another script receives those of the command that starts it, too.
  const receives = isNested || analysis.isScript
  const walk: WalkContext = {
    analysis,
    facts,
    // In a nested script, a certain variable is one of that script.
    values: analysis.isScript ? new ScriptValues(script, facts, isNested ? undefined : analysis.place) : undefined,
    defined: new Set(),
    nested(inner, innerScope, at) {
      /* v8 ignore if -- @preserve: a net under the parser, which reports it first */
      if (inner === undefined) return analysis.deny('SYNTAX_ERROR', 'An expansion does not parse', at)
      // Inside backquotes, positions are relative to the quote.
      const scriptScope = inner.source === undefined ? innerScope : { ...innerScope, at: innerScope.at ?? at }
      analyzeScript(walk, inner, {
        ...scriptScope,
        stdin: undefined,
        isLoose: false,
        isPattern: false,
        isQuoted: false,
      })
    },
    run: (words, innerScope, at) => analyzeWords(walk, words, innerScope, at),
    source: (inner, innerScope, at) =>
      analyzeSource(
        analysis,
        inner,
        { ...innerScope, isLoose: false, isPattern: false, isQuoted: false, at: innerScope.at ?? at },
        at,
      ),
  }
  const { certain: _, ...outer } = scope
  const after = analyzeScript(
    walk,
    script,
    receives ? { ...outer, certain: new CertainNames(undefined, facts.risks) } : outer,
  )
  const isSourced = analysis.isScript && scope.isEval === true && !isNested
  if (isSourced && changesCwdOf(after, scope, facts))
    analysis.deny('HIDDEN_COMMAND', 'It changes the directory of the script that sources it', whole)
  // The syntax tree has no node for the semicolon of `if a; then`.
  if (analysis.lists.deniesOperator(';') && !analysis.hasDenied(';')) {
    const at = semicolonAt(text, script)
    if (at !== undefined) analysis.checkOperator(';', scope.at ?? [at, at + 1])
  }
  return after
}

function changesCwdOf(after: CwdAfter, { cwds }: Scope, { functionsChangeCwd }: ScriptFacts): boolean {
  const last = allCwds(after)
  const isSame = last?.length === cwds?.length && last?.every((cwd) => cwds?.includes(cwd)) !== false
  return !isSame || functionsChangeCwd
}

function stay(cwds: PossibleCwds): CwdAfter {
  return { ok: cwds, failed: cwds }
}

function analyzeScript(walk: WalkContext, script: ParsedScript, scope: Scope): CwdAfter {
  const [error] = script.errors ?? []
  if (error !== undefined) {
    walk.analysis.deny(
      'SYNTAX_ERROR',
      `The line does not parse: ${error.message}`,
      scope.at ?? [error.pos, Math.max(error.pos, script.end)],
    )
    return stay(scope.cwds)
  }
  return analyzeStatements(walk, script.commands, scope)
}

function analyzeStatements(walk: WalkContext, statements: readonly Statement[], scope: Scope): CwdAfter {
  let current = stay(scope.cwds)
  const certain = scope.certain === undefined ? undefined : new CertainNames(scope.certain)
  for (const [index, statement] of statements.entries()) {
    const here = { ...scope, cwds: allCwds(current), ...(certain === undefined ? {} : { certain }) }
    if (index > 0) walk.analysis.checkOperator(';', rangeOf(statement, scope))
    if (statement.background === true) walk.analysis.checkOperator('&', rangeOf(statement, scope))
    const after = analyzePipelineNode(walk, statement.command, here)
    current = statement.background === true ? stay(here.cwds) : after
    if (certain === undefined || statement.background === true) continue
    noteCertain(statement.command, certain)
    if (statement.command.type === 'Function' && !walk.facts.removesFunctions)
      certain.addFunction(statement.command.name.value)
  }
  return current
}

function analyzeList(walk: WalkContext, list: CompoundList, scope: Scope): CwdAfter {
  return analyzeStatements(walk, list.commands, scope)
}

function analyzePipelineNode(walk: WalkContext, node: PipelineNode | AndOr, scope: Scope): CwdAfter {
  if (node.type === 'AndOr') return analyzeAndOr(walk, node, scope)
  if (node.type === 'Pipeline') return analyzePipeline(walk, node, scope)
  return analyzeNode(walk, node, scope)
}

function analyzeAndOr(walk: WalkContext, node: AndOr, scope: Scope): CwdAfter {
  let current = stay(scope.cwds)
  for (const [index, command] of node.commands.entries()) {
    const operator = node.operators[index - 1]
    if (operator === undefined) {
      current = analyzePipelineNode(walk, command, scope)
      continue
    }
    walk.analysis.checkOperator(operator, rangeOf(command, scope))
    const start = operator === '&&' ? current.ok : current.failed
    const after = analyzePipelineNode(walk, command, { ...scope, cwds: start })
    current =
      operator === '&&'
        ? { ok: after.ok, failed: unionCwds(current.failed, after.failed) }
        : { ok: unionCwds(current.ok, after.ok), failed: after.failed }
  }
  return current
}

function analyzePipeline(walk: WalkContext, node: Pipeline, scope: Scope): CwdAfter {
  for (const prefix of node.prefixes)
    if (prefix.type === 'Negation') walk.analysis.checkOperator('!', rangeOf(prefix, scope))
  for (const operator of node.operators) walk.analysis.checkOperator(operator, rangeOf(node, scope))
  const [only] = node.commands
  if (node.commands.length === 1 && only !== undefined) {
    const current = analyzeNode(walk, only, scope)
    return node.prefixes.some(({ type }) => type === 'Negation') ? { ok: current.failed, failed: current.ok } : current
  }
  let downloads = false
  const piped: string[] = []
  for (const command of node.commands) {
    analyzeNode(walk, command, { ...scope, stdin: undefined, piped: [...piped] })
    if (command.type !== 'Command' || command.name === undefined) continue
    const name = command.name.value
    if (/^(echo|printf)$/.test(name)) {
      const texts = command.args.map((word) => (word.type === 'Word' ? (literalOf(word) ?? '') : word.text))
      piped.push(texts.join(' '), ...texts)
    }
    if (downloads && isInterpreter(name)) {
      walk.analysis.deny('DOWNLOAD_TO_INTERPRETER', 'A download is piped to an interpreter', rangeOf(command, scope))
    }
    downloads ||= isDownloader(name)
  }
  return stay(scope.cwds)
}

function isDownloader(name: string): boolean {
  return /(^|\/)(curl|wget|wget2|aria2c|fetch|http|https|xh|nc|ncat|lynx|w3m)$/.test(name)
}

function isInterpreter(name: string): boolean {
  return /(^|\/)(env|(ba|da|z|fi|k|a|c|tc)?sh|python[\d.]*|node|perl|ruby|php|deno|bun|lua|pwsh)$/.test(name)
}

/** Analyzes one node of the tree. Unknown types are refused. */
function analyzeNode(walk: WalkContext, node: CommandNode | CompoundList, scope: Scope): CwdAfter {
  const { analysis } = walk
  const at = rangeOf(node, scope)
  switch (node.type) {
    case 'Command':
      return analyzeSimpleCommand(walk, node, scope)
    case 'Redirected': {
      checkRedirections(walk, node.redirects, scope)
      return analyzeNode(walk, node.command, { ...scope, stdin: undefined })
    }
    case 'Subshell':
      analysis.checkOperator('(', at)
      analyzeList(walk, node.body, scope)
      return stay(scope.cwds)
    case 'BraceGroup':
      analysis.checkOperator('{', at)
      return analyzeList(walk, node.body, scope)
    case 'If': {
      const clause = analyzeList(walk, node.clause, scope)
      let cwds = allCwds(analyzeList(walk, node.then, { ...scope, cwds: clause.ok }))
      let otherwise = clause.failed
      for (const elif of node.elif) {
        const next = analyzeList(walk, elif.clause, { ...scope, cwds: otherwise })
        cwds = unionCwds(cwds, allCwds(analyzeList(walk, elif.then, { ...scope, cwds: next.ok })))
        otherwise = next.failed
      }
      if (node.else !== undefined) otherwise = allCwds(analyzeList(walk, node.else, { ...scope, cwds: otherwise }))
      return stay(unionCwds(cwds, otherwise))
    }
    case 'While':
      return analyzeLoop(walk, [node.clause, node.body], scope)
    case 'For':
    case 'Select':
      checkVariable(walk, node.name.value, undefined, scope, at)
      for (const word of node.wordlist ?? []) checkExpansions(walk, word, scope)
      return analyzeLoop(
        walk,
        [node.body],
        withCertain(scope, (certain) => certain.addVariable(node.name.value)),
      )
    case 'ArithmeticFor':
      dialectOnly(walk, scope, at, '((')
      if (node.initialize !== undefined) checkExpansions(walk, node.initialize, scope)
      return analyzeCountingLoop(walk, node, scope)
    case 'ArithmeticCommand':
      analysis.checkOperator('((', at)
      dialectOnly(walk, scope, at, '((')
      if (node.expression === undefined) analysis.deny('SYNTAX_ERROR', 'An arithmetic command does not parse', at)
      else checkExpansions(walk, node.expression, scope)
      return stay(scope.cwds)
    case 'TestCommand':
      analysis.checkOperator('[[', at)
      dialectOnly(walk, scope, at, '[[')
      checkTest(walk, node.expression, scope)
      return stay(scope.cwds)
    case 'Case': {
      checkExpansions(walk, node.word, scope)
      let cwds = scope.cwds
      for (const item of node.items) {
        for (const pattern of item.pattern) checkExpansions(walk, pattern, { ...scope, isPattern: true, isLoose: true })
        // After ;& a body may start in the final directory of the previous one.
        cwds = unionCwds(cwds, allCwds(analyzeList(walk, item.body, { ...scope, cwds: cwds })))
      }
      return stay(cwds)
    }
    case 'Function':
      return analyzeFunction(walk, node, scope)
    case 'Coproc':
      dialectOnly(walk, scope, at, 'coproc')
      analysis.checkOperator('&', at)
      if (node.name !== undefined) checkVariable(walk, node.name.value, undefined, scope, at)
      analyzeNode(walk, node.body, scope)
      return stay(scope.cwds)
    /* v8 ignore next -- @preserve: a net under the parser, which reports it first, and has no other node */
    default:
      analysis.deny('SYNTAX_ERROR', `${JSON.stringify(node.type)} is not known`, at)
      return stay(undefined)
  }
}

function analyzeCountingLoop(
  walk: WalkContext,
  { initialize, test, update, body }: Extract<CommandNode, { type: 'ArithmeticFor' }>,
  outer: Scope,
): CwdAfter {
  const scope = withCertain(outer, (certain) => initialize !== undefined && noteArithmetic(initialize, certain))
  for (const part of [test, update]) if (part !== undefined) checkExpansions(walk, part, scope)
  return analyzeLoop(walk, [body], scope)
}

/** Returns the scope of a part in which more is certain. */
function withCertain(scope: Scope, note: (certain: CertainNames) => void): Scope {
  if (scope.certain === undefined) return scope
  const certain = new CertainNames(scope.certain)
  note(certain)
  return { ...scope, certain }
}

/** Each iteration starts in the final directory of the previous one, so a loop that changes it makes it unknown. */
function analyzeLoop(walk: WalkContext, lists: readonly CompoundList[], scope: Scope): CwdAfter {
  const cwds = walk.facts.changesCwd && changesCwdWithin(lists) ? undefined : scope.cwds
  for (const list of lists) analyzeList(walk, list, { ...scope, cwds: cwds })
  return stay(cwds)
}

function changesCwdWithin(lists: readonly CompoundList[]): boolean {
  return lists.some(
    (list) =>
      collectFacts({ type: 'Script', pos: list.pos, end: list.end, shebang: undefined, commands: list.commands })
        .changesCwd,
  )
}

function analyzeFunction(walk: WalkContext, node: Extract<CommandNode, { type: 'Function' }>, scope: Scope): CwdAfter {
  const { analysis } = walk
  const at = rangeOf(node, scope)
  const name = node.name.value
  dialectOnly(walk, scope, at, 'function', node.name.pos > node.pos)
  if (!/^[A-Za-z_][\w-]*$/.test(name) || literalTaken.has(name)) {
    analysis.deny('ODD_COMMAND_NAME', `A function must not have the name ${JSON.stringify(name)}`, at)
  }
  if (walk.defined.has(name))
    analysis.deny('HIDDEN_COMMAND', `The function ${JSON.stringify(name)} is defined twice`, at)
  const cwds = walk.facts.changesCwd ? undefined : scope.cwds
  const inner = withCertain(scope, (certain) => {
    certain.enterFunction()
    if (!walk.facts.removesFunctions) certain.addFunction(name)
  })
  analyzeNode(walk, node.body, {
    ...inner,
    cwds: cwds,
    enclosingFunctions: [...scope.enclosingFunctions, name],
    stdin: undefined,
  })
  walk.defined.add(name)
  return stay(cwds)
}

/** Names that the analysis interprets, so no function may have them. */
const literalTaken = new Set(
  'cd pushd popd exit command builtin exec eval source export declare typeset local readonly read nproc date seq wc find env set unset alias test echo printf trap'.split(
    ' ',
  ),
)

/** Refuses bash syntax in `sh`, where the word is an ordinary one and the rest would be commands. */
function dialectOnly(walk: WalkContext, scope: Scope, at: TextRange, word: string, when = true): void {
  if (when && scope.dialect === 'sh') {
    walk.analysis.deny('SYNTAX_ERROR', `${JSON.stringify(word)} means something else in sh`, at)
  }
}
