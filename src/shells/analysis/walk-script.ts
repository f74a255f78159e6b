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
import { judgeVariable } from './assignments.ts'
import { splitTokenAt } from './characters.ts'
import { judgeCommandNode, MAX_DEPTH, runWords } from './command.ts'
import { allCwds, type CwdAfter, type PossibleCwds, union } from './cwd.ts'
import { judgeExpansions, judgeTest } from './expansions.ts'
import { judgeRedirections } from './redirections.ts'
import { factsOf } from './script-facts.ts'
import type { TextRange } from './verdict.ts'

/** Judges the text of a script. */
export function judgeSource(judge: Analysis, text: string, scope: Scope, whole: TextRange): CwdAfter {
  if (scope.via.length > MAX_DEPTH || !judge.spend(text.length)) {
    judge.deny('TOO_COMPLEX', 'The line holds too many scripts within scripts', whole)
    return stay(scope.places)
  }
  const broken = splitTokenAt(text)
  if (broken !== undefined) {
    judge.deny('SYNTAX_ERROR', 'A line is continued in the middle of a word', scope.at ?? [broken, broken + 2])
  }
  const script = parse(text)
  const facts = factsOf(script, scope.evaluated)
  const walk: WalkContext = {
    judge,
    facts,
    defined: new Set(),
    nested(inner, innerScope, at) {
      /* v8 ignore if -- @preserve: a net under the parser, which reports it first */
      if (inner === undefined) return judge.deny('SYNTAX_ERROR', 'An expansion does not parse', at)
      // Inside backquotes positions count from the quote.
      const own = inner.source === undefined ? innerScope : { ...innerScope, at: innerScope.at ?? at }
      judgeScript(walk, inner, { ...own, stdin: undefined, loose: false, pattern: false })
    },
    run: (words, innerScope, at) => runWords(walk, words, innerScope, at),
    source: (inner, innerScope, at) =>
      judgeSource(judge, inner, { ...innerScope, loose: false, pattern: false, at: innerScope.at ?? at }, at),
  }
  return judgeScript(walk, script, scope)
}

function stay(places: PossibleCwds): CwdAfter {
  return { ok: places, failed: places }
}

function judgeScript(walk: WalkContext, script: ParsedScript, scope: Scope): CwdAfter {
  const [error] = script.errors ?? []
  if (error !== undefined) {
    walk.judge.deny(
      'SYNTAX_ERROR',
      `The line does not parse: ${error.message}`,
      scope.at ?? [error.pos, Math.max(error.pos, script.end)],
    )
    return stay(scope.places)
  }
  return judgeStatements(walk, script.commands, scope)
}

function judgeStatements(walk: WalkContext, statements: readonly Statement[], scope: Scope): CwdAfter {
  let flow = stay(scope.places)
  for (const [index, statement] of statements.entries()) {
    const here = { ...scope, places: allCwds(flow) }
    if (index > 0) walk.judge.operator(';', rangeOf(statement, scope))
    if (statement.background === true) walk.judge.operator('&', rangeOf(statement, scope))
    const after = judgePipelineNode(walk, statement.command, here)
    flow = statement.background === true ? stay(here.places) : after
  }
  return flow
}

function judgeList(walk: WalkContext, list: CompoundList, scope: Scope): CwdAfter {
  return judgeStatements(walk, list.commands, scope)
}

function judgePipelineNode(walk: WalkContext, node: PipelineNode | AndOr, scope: Scope): CwdAfter {
  if (node.type === 'AndOr') return judgeAndOr(walk, node, scope)
  if (node.type === 'Pipeline') return judgePipeline(walk, node, scope)
  return judgeNode(walk, node, scope)
}

function judgeAndOr(walk: WalkContext, node: AndOr, scope: Scope): CwdAfter {
  let flow = stay(scope.places)
  for (const [index, command] of node.commands.entries()) {
    const operator = node.operators[index - 1]
    if (operator === undefined) {
      flow = judgePipelineNode(walk, command, scope)
      continue
    }
    walk.judge.operator(operator, rangeOf(command, scope))
    const start = operator === '&&' ? flow.ok : flow.failed
    const after = judgePipelineNode(walk, command, { ...scope, places: start })
    flow =
      operator === '&&'
        ? { ok: after.ok, failed: union(flow.failed, after.failed) }
        : { ok: union(flow.ok, after.ok), failed: after.failed }
  }
  return flow
}

function judgePipeline(walk: WalkContext, node: Pipeline, scope: Scope): CwdAfter {
  for (const prefix of node.prefixes) if (prefix.type === 'Negation') walk.judge.operator('!', rangeOf(prefix, scope))
  for (const operator of node.operators) walk.judge.operator(operator, rangeOf(node, scope))
  const [only] = node.commands
  if (node.commands.length === 1 && only !== undefined) {
    const flow = judgeNode(walk, only, scope)
    return node.prefixes.some(({ type }) => type === 'Negation') ? { ok: flow.failed, failed: flow.ok } : flow
  }
  let downloads = false
  for (const command of node.commands) {
    judgeNode(walk, command, { ...scope, stdin: undefined })
    if (command.type !== 'Command' || command.name === undefined) continue
    const name = command.name.value
    if (downloads && isInterpreter(name)) {
      walk.judge.deny('DOWNLOAD_TO_INTERPRETER', 'A download is fed to an interpreter', rangeOf(command, scope))
    }
    downloads ||= isDownloader(name)
  }
  return stay(scope.places)
}

function isDownloader(name: string): boolean {
  return /(^|\/)(curl|wget|wget2|aria2c|fetch|http|https|xh|nc|ncat|lynx|w3m)$/.test(name)
}

function isInterpreter(name: string): boolean {
  return /(^|\/)(env|(ba|da|z|fi|k|a|c|tc)?sh|python[\d.]*|node|perl|ruby|php|deno|bun|lua|pwsh)$/.test(name)
}

/** One node of the tree. A kind that is not known here is refused, as is what the parser only leaves with an error. */
function judgeNode(walk: WalkContext, node: CommandNode | CompoundList, scope: Scope): CwdAfter {
  const { judge } = walk
  const at = rangeOf(node, scope)
  switch (node.type) {
    case 'Command':
      return judgeCommandNode(walk, node, scope)
    case 'Redirected': {
      judgeRedirections(walk, node.redirects, scope)
      return judgeNode(walk, node.command, { ...scope, stdin: undefined })
    }
    case 'Subshell':
      judge.operator('(', at)
      judgeList(walk, node.body, scope)
      return stay(scope.places)
    case 'BraceGroup':
      judge.operator('{', at)
      return judgeList(walk, node.body, scope)
    case 'If': {
      const clause = judgeList(walk, node.clause, scope)
      let places = allCwds(judgeList(walk, node.then, { ...scope, places: clause.ok }))
      let otherwise = clause.failed
      for (const elif of node.elif) {
        const next = judgeList(walk, elif.clause, { ...scope, places: otherwise })
        places = union(places, allCwds(judgeList(walk, elif.then, { ...scope, places: next.ok })))
        otherwise = next.failed
      }
      if (node.else !== undefined) otherwise = allCwds(judgeList(walk, node.else, { ...scope, places: otherwise }))
      return stay(union(places, otherwise))
    }
    case 'While':
      return judgeLoop(walk, [node.clause, node.body], scope)
    case 'For':
    case 'Select':
      judgeVariable(walk, node.name.value, undefined, scope, at)
      for (const word of node.wordlist ?? []) judgeExpansions(walk, word, scope)
      return judgeLoop(walk, [node.body], scope)
    case 'ArithmeticFor':
      dialectOnly(walk, scope, at, '((')
      for (const part of [node.initialize, node.test, node.update])
        if (part !== undefined) judgeExpansions(walk, part, scope)
      return judgeLoop(walk, [node.body], scope)
    case 'ArithmeticCommand':
      judge.operator('((', at)
      dialectOnly(walk, scope, at, '((')
      if (node.expression === undefined) judge.deny('SYNTAX_ERROR', 'An arithmetic command does not parse', at)
      else judgeExpansions(walk, node.expression, scope)
      return stay(scope.places)
    case 'TestCommand':
      judge.operator('[[', at)
      dialectOnly(walk, scope, at, '[[')
      judgeTest(walk, node.expression, scope)
      return stay(scope.places)
    case 'Case': {
      judgeExpansions(walk, node.word, scope)
      let places = scope.places
      for (const item of node.items) {
        for (const pattern of item.pattern) judgeExpansions(walk, pattern, { ...scope, pattern: true, loose: true })
        // With ;& a body may begin where the one before has ended.
        places = union(places, allCwds(judgeList(walk, item.body, { ...scope, places })))
      }
      return stay(places)
    }
    case 'Function':
      return judgeFunction(walk, node, scope)
    case 'Coproc':
      dialectOnly(walk, scope, at, 'coproc')
      judge.operator('&', at)
      if (node.name !== undefined) judgeVariable(walk, node.name.value, undefined, scope, at)
      judgeNode(walk, node.body, scope)
      return stay(scope.places)
    /* v8 ignore next -- @preserve: a net under the parser, which reports it first, and has no other node */
    default:
      judge.deny('SYNTAX_ERROR', `${JSON.stringify(node.type)} is not known`, at)
      return stay(undefined)
  }
}

/** What a round leaves is where the next one starts: a loop that moves ends nobody knows where. */
function judgeLoop(walk: WalkContext, lists: readonly CompoundList[], scope: Scope): CwdAfter {
  const places = walk.facts.moves && movesWithin(lists) ? undefined : scope.places
  for (const list of lists) judgeList(walk, list, { ...scope, places })
  return stay(places)
}

function movesWithin(lists: readonly CompoundList[]): boolean {
  return lists.some(
    (list) =>
      factsOf({ type: 'Script', pos: list.pos, end: list.end, shebang: undefined, commands: list.commands }).moves,
  )
}

function judgeFunction(walk: WalkContext, node: Extract<CommandNode, { type: 'Function' }>, scope: Scope): CwdAfter {
  const { judge } = walk
  const at = rangeOf(node, scope)
  const name = node.name.value
  dialectOnly(walk, scope, at, 'function', node.name.pos > node.pos)
  if (!/^[A-Za-z_][\w-]*$/.test(name) || literalTaken.has(name)) {
    judge.deny('ODD_COMMAND_NAME', `A function may not be called ${JSON.stringify(name)}`, at)
  }
  if (walk.defined.has(name)) judge.deny('HIDDEN_COMMAND', `The function ${JSON.stringify(name)} is defined twice`, at)
  const places = walk.facts.moves ? undefined : scope.places
  judgeNode(walk, node.body, { ...scope, places, within: [...scope.within, name], stdin: undefined })
  walk.defined.add(name)
  return stay(places)
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
    walk.judge.deny('SYNTAX_ERROR', `${JSON.stringify(word)} means something else in sh`, at)
  }
}
