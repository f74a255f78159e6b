import { type Command, parse, type Word } from 'unbash'
import { programName } from '../../policy/command-options.ts'
import { type Analysis, createAnalysis, rangeOf, type Scope, type WalkContext } from './analysis.ts'
import { type CwdAfter, resolvePath, unionCwds } from './cwd.ts'
import { builtInDenial } from './denylist.ts'
import { checkAssignment, checkExpansions } from './expansions.ts'
import type { Inspector } from './inspector.ts'
import { findInspector, isTool } from './inspectors.ts'
import { type Forms, launchedVariants, nameVariants, pathVariants, wordLists } from './name-variants.ts'
import { mayLaunch } from './possible-launches.ts'
import { checkRedirections } from './redirections.ts'
import { collectFacts } from './script-facts.ts'
import type { TextRange } from './verdict.ts'
import { type Argument, argumentsOf, type Binding, literalArgument } from './words.ts'

/** Analyzes a simple command: its assignments, redirections and words. */
export function analyzeSimpleCommand(walk: WalkContext, node: Command, scope: Scope): CwdAfter {
  const name = node.name?.value
  for (const part of node.prefix) if (part.type === 'Assignment') checkAssignment(walk, part, scope, name)
  const stdin = checkRedirections(walk, node.redirects, scope)
  if (node.name === undefined) return { ok: scope.cwds, failed: scope.cwds }
  checkExpansions(walk, node.name, scope)
  const isAssociative = declaresAssociative(node)
  for (const part of node.args) {
    if (part.type === 'Assignment') checkAssignment(walk, part, scope, name, isAssociative)
    else checkExpansions(walk, part, scope)
  }
  const at = rangeOf(node, scope)
  const analyze = (values?: Binding): CwdAfter => {
    const words = [node.name as Word, ...node.args].flatMap((word) =>
      argumentsOf(word, scope.at, { values, splitsAll: walk.facts.setsSeparators }),
    )
    return words.length === 0 ? stayIn(scope) : analyzeWords(walk, words, { ...scope, stdin }, at)
  }
  const isKnown = [node.name, ...node.args].every((word) => word.type === 'Word' && word.parts === undefined)
  if (walk.values === undefined || isKnown) return analyze()
  // An unknown directory is only refused together with what runs in it.
  const result = node.name.text === 'cd' ? undefined : walk.analysis.attempt(analyze)
  return result ?? analyzeValues(walk, node, scope, analyze)
}

/** Whether the only option of a declaration is `-A`: then subscripts are texts, and no arithmetic. */
function declaresAssociative({ args: [option, ...others] }: Command): boolean {
  return option?.text === '-A' && others.every(({ type }) => type === 'Assignment')
}

/** Analyzes a command with each of the values that its variables may have, if they are known. */
function analyzeValues(
  walk: WalkContext,
  node: Command,
  scope: Scope,
  analyze: (values?: Binding) => CwdAfter,
): CwdAfter {
  const nodes = node.name === undefined ? node.args : [node.name, ...node.args]
  const isCertain = (name: string): boolean => scope.certain?.hasVariable(name) === true
  const bindings = walk.values?.bindings(nodes, isCertain, isInitial(walk, scope)) ?? []
  // What changes the shell is only found where it is written: not with a variable, nor by a name in a variable.
  const isNamed = node.name?.parts === undefined
  const changesShell = [undefined, ...bindings].some((values) =>
    nodes
      .flatMap((each) => argumentsOf(each, scope.at, { values, splitsAll: walk.facts.setsSeparators }))
      .some(
        ({ literal = '' }, index) =>
          (index === 0 || commandPrefixes.has(node.name?.text)) &&
          (changing.has(literal) || (followed.has(literal) && !(index === 0 && isNamed))),
      ),
  )
  if (bindings.length === 0 || changesShell) return analyze()
  return bindings
    .map(analyze)
    .reduce((all, { ok, failed }) => ({ ok: unionCwds(all.ok, ok), failed: unionCwds(all.failed, failed) }))
}

const commandPrefixes: ReadonlySet<string | undefined> = new Set(['command', 'builtin'])

/** Built-ins that the analysis follows where they are written. */
const followed = new Set(['cd', 'chdir', 'pushd', 'popd', 'source', '.'])

/** Built-ins that change the variables, functions or options of the shell. */
const changing = new Set(
  'alias declare enable eval export getopts hash let local mapfile printf read readarray readonly set shift shopt trap typeset unalias unset wait'.split(
    ' ',
  ),
)

function isInitial({ analysis: { place } }: WalkContext, { cwds }: Scope): boolean {
  return place !== undefined && cwds?.length === 1 && cwds[0] === place.cwd
}

function stayIn({ cwds }: Scope): CwdAfter {
  return { ok: cwds, failed: cwds }
}

/** Maximum nesting of commands that start other commands. */
export const MAX_DEPTH = 8

/** Analyzes the expanded words of a command: its name, the lists, and the commands that it starts. */
export function analyzeWords(walk: WalkContext, words: readonly Argument[], scope: Scope, at: TextRange): CwdAfter {
  const { analysis } = walk
  const stay: CwdAfter = { ok: scope.cwds, failed: scope.cwds }
  if (scope.via.length > MAX_DEPTH) {
    analysis.deny('TOO_COMPLEX', 'The command is nested in too many others', at)
    return stay
  }
  const [first, ...args] = words
  const name = first?.literal ?? first?.path
  if (first === undefined || name === undefined || first.braces) {
    analysis.deny(
      'COMMAND_NOT_LITERAL',
      `The command name ${JSON.stringify(first?.raw ?? '')} is only known at run time`,
      first?.at ?? at,
    )
    return stay
  }
  if (!/^[\w.+:@,/[-]+$/.test(name) || /^[-+@,]/.test(name)) {
    analysis.deny('ODD_COMMAND_NAME', `${JSON.stringify(name)} is not a plain command name`, first.at)
    return stay
  }
  const plain = plainName(walk, name, scope, first.at)
  const isOpen = /[$`]/.test(first.raw) && args.some(({ literal }) => literal === undefined)
  if (isOpen && analysis.restrictsArguments(plain))
    analysis.deny('ARGUMENT_NOT_LITERAL', `The arguments of ${name} are only known at run time`, at)
  const forms = addListed(analysis, { name, plain, args }, scope, at)
  if (
    !analysis.isScript &&
    (scope.enclosingFunctions.includes(name) ||
      (scope.enclosingFunctions.length > 0 && walk.facts.functions.has(name) && !walk.defined.has(name)))
  ) {
    analysis.deny('FORK_BOMB', `The function ${JSON.stringify(name)} calls itself`, at)
  }
  const inspector = findInspector(plain)
  if (mayLaunch(plain) && !isDefined(walk, name, scope)) analysis.programs.push({ walk, name, args, scope, at })
  // `command rm` in a function `rm` starts the command.
  const isFunction = analysis.isScript && scope.via.length === 0 && scope.certain?.hasFunction(name) === true
  const needsEntry = scope.skipAllowlist !== true && !isFunction
  if (needsEntry && inspector?.transparent !== true) requireListed(analysis, name, forms, at)
  // An entry that names a launched command does not cover the commands that this one starts.
  const started = analysis.commandCount()
  const leavesOpen = analysis.unknowns === 'words' && isTool(plain)
  const inner = { ...scope, skipAllowlist: false }
  const isHelp = args.length === 1 && args[0]?.literal === '--help' && helpful.test(plain)
  const after = isHelp ? stay : inspector?.inspect({ walk, name, plain, args, scope: inner, at, leavesOpen })
  // A launcher without a command acts by itself: a bare `env` shows the environment.
  const isBare = inspector?.transparent === true && analysis.commandCount() === started && !bareBuiltins.has(name)
  if (isBare && needsEntry) requireListed(analysis, name, forms, at)
  return after ?? stay
}

/** Programs that print their help, or an error, for `--help` alone. With `nohup`, some systems start a program of that name. */
const helpful = /^(awk|find|env|timeout|xargs|bash|sh)$/

/** Whether a name is that of a function that has certainly been defined. */
function isDefined({ defined }: WalkContext, name: string, { certain, via }: Scope): boolean {
  return via.length === 0 && (certain === undefined ? defined.has(name) : certain.hasFunction(name))
}

/**
 * Analyzes a command that starts, with the words that it receives. The commands that it starts in turn are not analyzed: each
 * of them starts by itself. A function needs no entry in an allowlist.
 */
export function analyzeStartedWords(
  analysis: Analysis,
  words: readonly string[],
  scope: Scope,
  isFunction: boolean,
): void {
  const at: TextRange = [0, 0]
  const [name = '', ...rest] = words
  const args = rest.map((word) => literalArgument(word, at))
  const plain = programName(name)
  const forms = addListed(analysis, { name, plain, args }, scope, at)
  if (isFunction) return
  const inspector = findInspector(plain)
  const startsOther = inspector !== undefined && inspectStarted(analysis, inspector, words, scope)
  if (inspector?.transparent === true && (bareBuiltins.has(name) || startsOther)) return
  requireListed(analysis, name, forms, at)
}

/**
 * Applies the denylists to the script that a started command runs, and to what a launcher starts, together with the launcher: `env ls`
 * for `env A=1 ls`. Returns whether the command starts another one.
 */
function inspectStarted(analysis: Analysis, inspector: Inspector, words: readonly string[], scope: Scope): boolean {
  const at: TextRange = [0, 0]
  const [name = '', ...rest] = words
  const args = rest.map((word) => literalArgument(word, at))
  let startsOther = false
  const start = (): CwdAfter => {
    startsOther = true
    return stayIn(scope)
  }
  // What else it denies was analyzed in the line, or is only known now.
  const restricted = createAnalysis(
    analysis.lists,
    analysis.root,
    (command) => {
      analysis.applyRules(command)
      return { decision: 'allow', reason: '' }
    },
    { unknowns: 'words', judgesScripts: true },
  )
  const run: WalkContext['run'] = (launched, { via }) => {
    const [first, ...others] = launched
    if (first?.literal !== undefined) {
      const literals = others.map(({ literal }) => literal ?? null)
      const plain = programName(first.literal)
      const text = [first.literal, ...others.map(({ literal, raw }) => literal ?? raw)].join(' ')
      const otherTexts = launchedVariants(via, nameVariants(first.literal, plain, literals, text).denied)
      const [, ...lists] = wordLists(via, plain, literals)
      const entry = restricted.lists.deniedBy(otherTexts, lists)
      if (entry !== undefined) restricted.deny('POLICY_DENIED', `Policy denies ${JSON.stringify(entry)}`, at)
      restricted.applyRules({ name, args: rest, text: words.join(' '), otherTexts, via: [], at })
    }
    return start()
  }
  const walk: WalkContext = {
    analysis: restricted,
    facts: NO_FACTS,
    values: undefined,
    defined: new Set(),
    nested: () => {},
    source: start,
    run,
  }
  inspector.inspect({ walk, name, plain: programName(name), args, scope, at, leavesOpen: true })
  for (const { code, message } of restricted.verdict().reasons) {
    if (code === 'POLICY_DENIED') analysis.deny(code, message, at)
  }
  return startsOther
}

const NO_FACTS = collectFacts(parse(''))

/** Adds a command to the analysis, and applies the denylists to it. Returns its spellings. */
function addListed(
  analysis: Analysis,
  { name, plain, args }: { readonly name: string; readonly plain: string; readonly args: readonly Argument[] },
  scope: Scope,
  at: TextRange,
): Forms {
  const literals = args.map(({ literal }) => literal ?? null)
  const text = [name, ...args.map(({ literal, raw }) => literal ?? raw)].join(' ')
  const [cwd, ...otherCwds] = scope.cwds ?? []
  const forms = nameVariants(name, plain, literals, text)
  const paths = name.includes('/') ? pathVariants(name, text.slice(name.length), { ...scope, root: analysis.root }) : []
  const denied = [...forms.denied, ...paths]
  denied.push(...launchedVariants(scope.via, denied))
  analysis.addCommand({
    name,
    args: literals,
    text,
    otherTexts: [...new Set(denied)].filter((other) => other !== text),
    ...(cwd !== undefined && otherCwds.length === 0 ? { cwd } : {}),
    via: scope.via,
    at,
  })
  const entry = analysis.lists.deniedBy(denied, wordLists(scope.via, plain, literals))
  if (entry !== undefined) analysis.deny('POLICY_DENIED', `Policy denies ${JSON.stringify(entry)}`, at)
  const builtIn = builtInDenial(plain, args, analysis.placeOf(scope))
  if (builtIn !== undefined) analysis.deny('BUILT_IN_DENIED', builtIn, at)
  return forms
}

/** Denies a command that has no entry in the allowlist. */
function requireListed(analysis: Analysis, name: string, forms: Forms, at: TextRange): void {
  if (neutral.has(name) || analysis.lists.isAllowed(forms.allowed)) return
  analysis.deny('NOT_ALLOWED', `${JSON.stringify(forms.allowed[0])} is not an allowed command`, at)
}

/** Built-ins that start a command, and have no effect outside the shell without one. */
const bareBuiltins = new Set(['command', 'builtin', 'exec', 'time'])

/** Built-ins without effects outside the shell. They need no entry in an allowlist. */
const neutral = new Set([
  ':',
  'true',
  'false',
  'test',
  '[',
  'exit',
  'return',
  'break',
  'continue',
  'shift',
  'cd',
  'wait',
])

const SYSTEM = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/

/** Returns the name of a command in lower case, without directory and executable suffix. */
function plainName(walk: WalkContext, name: string, scope: Scope, at: TextRange): string {
  if (name.includes('/')) {
    if (!SYSTEM.test(name)) {
      const paths = resolvePath(name, scope.cwds, walk.analysis.root)
      if (paths === 'outside') {
        walk.analysis.deny('OUTSIDE_WORKSPACE', `The program ${JSON.stringify(name)} is not inside the workspace`, at)
      } else if (paths === 'unknown' && walk.analysis.judgesScripts) {
        walk.analysis.deny('CWD_UNKNOWN', `The location of ${JSON.stringify(name)} is only known at run time`, at)
      }
      walk.analysis.addExecuted(name, scope, at)
      walk.analysis.addScript(name, 'program', scope)
    }
  }
  return programName(name)
}
