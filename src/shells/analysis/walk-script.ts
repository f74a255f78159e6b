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
import { splitTokenAt } from './characters.ts'
import { analyzeSimpleCommand, analyzeWords, MAX_DEPTH } from './command.ts'
import { allCwds, type CwdAfter, type PossibleCwds, unionCwds } from './cwd.ts'
import { checkExpansions, checkTest } from './expansions.ts'
import { checkRedirections } from './redirections.ts'
import { collectFacts } from './script-facts.ts'
import type { TextRange } from './verdict.ts'

/** Judges the text of a script. */
export function analyzeSource(analysis: Analysis, text: string, scope: Scope, whole: TextRange): CwdAfter {
  if (scope.via.length > MAX_DEPTH || !analysis.spend(text.length)) {
    analysis.deny('TOO_COMPLEX', 'The line holds too many scripts within scripts', whole)
    return stay(scope.cwds)
  }
  const broken = splitTokenAt(text)
  if (broken !== undefined) {
    analysis.deny('SYNTAX_ERROR', 'A line is continued in the middle of a word', scope.at ?? [broken, broken + 2])
  }
  const script = parse(text)
  const facts = collectFacts(script, scope.isEval)
  const walk: WalkContext = {
    analysis,
    facts,
    defined: new Set(),
    nested(inner, innerScope, at) {
      /* v8 ignore if -- @preserve: a net under the parser, which reports it first */
      if (inner === undefined) return analysis.deny('SYNTAX_ERROR', 'An expansion does not parse', at)
      // Inside backquotes positions count from the quote.
      const own = inner.source === undefined ? innerScope : { ...innerScope, at: innerScope.at ?? at }
      analyzeScript(walk, inner, { ...own, stdin: undefined, isLoose: false, isPattern: false })
    },
    run: (words, innerScope, at) => analyzeWords(walk, words, innerScope, at),
    source: (inner, innerScope, at) =>
      analyzeSource(analysis, inner, { ...innerScope, isLoose: false, isPattern: false, at: innerScope.at ?? at }, at),
  }
  return analyzeScript(walk, script, scope)
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
  let flow = stay(scope.cwds)
  for (const [index, statement] of statements.entries()) {
    const here = { ...scope, cwds: allCwds(flow) }
    if (index > 0) walk.analysis.checkOperator(';', rangeOf(statement, scope))
    if (statement.background === true) walk.analysis.checkOperator('&', rangeOf(statement, scope))
    const after = analyzePipelineNode(walk, statement.command, here)
    flow = statement.background === true ? stay(here.cwds) : after
  }
  return flow
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
  let flow = stay(scope.cwds)
  for (const [index, command] of node.commands.entries()) {
    const operator = node.operators[index - 1]
    if (operator === undefined) {
      flow = analyzePipelineNode(walk, command, scope)
      continue
    }
    walk.analysis.checkOperator(operator, rangeOf(command, scope))
    const start = operator === '&&' ? flow.ok : flow.failed
    const after = analyzePipelineNode(walk, command, { ...scope, cwds: start })
    flow =
      operator === '&&'
        ? { ok: after.ok, failed: unionCwds(flow.failed, after.failed) }
        : { ok: unionCwds(flow.ok, after.ok), failed: after.failed }
  }
  return flow
}

function analyzePipeline(walk: WalkContext, node: Pipeline, scope: Scope): CwdAfter {
  for (const prefix of node.prefixes)
    if (prefix.type === 'Negation') walk.analysis.checkOperator('!', rangeOf(prefix, scope))
  for (const operator of node.operators) walk.analysis.checkOperator(operator, rangeOf(node, scope))
  const [only] = node.commands
  if (node.commands.length === 1 && only !== undefined) {
    const flow = analyzeNode(walk, only, scope)
    return node.prefixes.some(({ type }) => type === 'Negation') ? { ok: flow.failed, failed: flow.ok } : flow
  }
  let downloads = false
  for (const command of node.commands) {
    analyzeNode(walk, command, { ...scope, stdin: undefined })
    if (command.type !== 'Command' || command.name === undefined) continue
    const name = command.name.value
    if (downloads && isInterpreter(name)) {
      walk.analysis.deny('DOWNLOAD_TO_INTERPRETER', 'A download is fed to an interpreter', rangeOf(command, scope))
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

/** One node of the tree. A kind that is not known here is refused, as is what the parser only leaves with an error. */
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
      return analyzeLoop(walk, [node.body], scope)
    case 'ArithmeticFor':
      dialectOnly(walk, scope, at, '((')
      for (const part of [node.initialize, node.test, node.update])
        if (part !== undefined) checkExpansions(walk, part, scope)
      return analyzeLoop(walk, [node.body], scope)
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
        // With ;& a body may begin where the one before has ended.
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

/** What a round leaves is where the next one starts: a loop that moves ends nobody knows where. */
function analyzeLoop(walk: WalkContext, lists: readonly CompoundList[], scope: Scope): CwdAfter {
  const cwds = walk.facts.moves && movesWithin(lists) ? undefined : scope.cwds
  for (const list of lists) analyzeList(walk, list, { ...scope, cwds: cwds })
  return stay(cwds)
}

function movesWithin(lists: readonly CompoundList[]): boolean {
  return lists.some(
    (list) =>
      collectFacts({ type: 'Script', pos: list.pos, end: list.end, shebang: undefined, commands: list.commands }).moves,
  )
}

function analyzeFunction(walk: WalkContext, node: Extract<CommandNode, { type: 'Function' }>, scope: Scope): CwdAfter {
  const { analysis } = walk
  const at = rangeOf(node, scope)
  const name = node.name.value
  dialectOnly(walk, scope, at, 'function', node.name.pos > node.pos)
  if (!/^[A-Za-z_][\w-]*$/.test(name) || literalTaken.has(name)) {
    analysis.deny('ODD_COMMAND_NAME', `A function may not be called ${JSON.stringify(name)}`, at)
  }
  if (walk.defined.has(name))
    analysis.deny('HIDDEN_COMMAND', `The function ${JSON.stringify(name)} is defined twice`, at)
  const cwds = walk.facts.moves ? undefined : scope.cwds
  analyzeNode(walk, node.body, {
    ...scope,
    cwds: cwds,
    enclosingFunctions: [...scope.enclosingFunctions, name],
    stdin: undefined,
  })
  walk.defined.add(name)
  return stay(cwds)
}

/** Names by which the judge knows what a command does. */
const literalTaken = new Set(
  'cd pushd popd command builtin exec eval source export declare typeset local readonly read nproc date seq wc find env set unset alias test echo printf trap'.split(
    ' ',
  ),
)

/** In `sh` this word is an ordinary one, and what follows it would be commands. */
function dialectOnly(walk: WalkContext, scope: Scope, at: TextRange, word: string, when = true): void {
  if (when && scope.dialect === 'sh') {
    walk.analysis.deny('SYNTAX_ERROR', `${JSON.stringify(word)} means something else in sh`, at)
  }
}
