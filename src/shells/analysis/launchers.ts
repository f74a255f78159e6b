import { programName } from '../../policy/command-options.ts'
import { builtInDenial } from './denylist.ts'
import { aliases, type Call, type Inspectors, refuseAlways, refuseOptions, refuseUnclear } from './inspector.ts'
import { nameVariants, pathVariants } from './name-variants.ts'
import { readOptions } from './options.ts'
import type { TextRange } from './verdict.ts'
import { type Argument, knownText, literalArgument, mayBeOption, unknownArgument } from './words.ts'

/** Commands that run text as a script, or start a command several times. */
export const launchers: Inspectors = {
  ...aliases('bash rbash', { inspect: (call) => inspectShell(call, 'bash') }),
  ...aliases('sh dash ash', { inspect: (call) => inspectShell(call, 'sh') }),
  ...aliases('zsh rzsh ksh rksh mksh lksh posh yash sash csh tcsh fish elvish nu xonsh pwsh powershell cmd oil osh', {
    inspect: inspectForeignShell,
  }),
  find: { inspect: inspectFind },
  gfind: { inspect: inspectFind },
  xargs: { inspect: inspectXargs },
  gxargs: { inspect: inspectXargs },
  ...aliases('fd fdfind', { inspect: (call) => refuseOptions(call, /^-[^-]*[xX]|^--e/) }),
  hyperfine: { inspect: (call) => inspectLines(call) },
  ...aliases('concurrently', { inspect: (call) => inspectLines(call) }),
  ...aliases('parallel pexec', refuseAlways('it inserts its input into the lines that it runs')),
}

function inspectShell(call: Call, dialect: 'bash' | 'sh'): undefined {
  const { walk, scope, at } = call
  let runsText = false
  let i = 0
  for (; i < call.args.length; i++) {
    const argument = call.args[i] as Argument
    const { literal } = argument
    if (literal === undefined) {
      if (mayBeOption(argument)) return refuseUnclear(call, argument)
      break
    }
    if (literal === '--' || literal === '-') {
      i += 1
      break
    }
    if (/^--(norc|noprofile|posix|login|verbose|version)$/.test(literal)) continue
    if (!/^[-+]/.test(literal)) break
    const letters = literal.slice(1)
    if (/[^abcefhlmnuvxBCEHTo]/.test(letters)) return refuseUnclear(call, argument)
    if (letters.includes('c')) runsText = true
    if (letters.includes('o')) {
      i += 1
      const value = call.args[i]
      if (
        !/^(pipefail|errexit|nounset|xtrace|verbose|noglob|noclobber|allexport|errtrace|noexec|posix)$/.test(
          knownText(value),
        )
      ) {
        return refuseUnclear(call, value ?? argument)
      }
    }
  }
  const operand = call.args[i]
  const inner = {
    ...scope,
    dialect,
    via: [...scope.via, call.plain],
    enclosingFunctions: [],
    stdin: undefined,
    skipAllowlist: false,
  }
  if (operand === undefined) {
    if (runsText) walk.analysis.deny('HIDDEN_COMMAND', `${call.name} -c has no script`, at)
    else if (call.args.some(({ literal }) => literal === '--version')) return undefined
    else if (scope.stdin !== undefined) walk.source(scope.stdin, inner, at)
    else walk.analysis.deny('HIDDEN_COMMAND', `${call.name} runs code from its standard input`, at)
    return undefined
  }
  if (operand.literal === undefined) {
    walk.analysis.deny('COMMAND_NOT_LITERAL', `The script that ${call.name} runs is only known at run time`, operand.at)
  } else if (runsText) {
    walk.source(operand.literal, inner, operand.at)
  } else {
    checkAsProgram(call, operand.literal, call.args.slice(i + 1), operand.at)
    checkScriptFile(call, operand)
    walk.analysis.addScript(operand.literal, dialect, scope)
  }
  return undefined
}

/**
 * Checks a script file of a shell also as a program of its name: if the file does not exist, the shell looks for such a program.
 */
function checkAsProgram(
  { walk, scope }: Call,
  script: string,
  scriptArgs: readonly Argument[],
  position: TextRange,
): void {
  const builtIn = builtInDenial(programName(script), scriptArgs, walk.analysis.placeOf(scope))
  if (builtIn !== undefined) walk.analysis.deny('BUILT_IN_DENIED', builtIn, position)
}

/** Applies the lists and the restricting rules to a file that is run, as to a command of its path. */
function checkListed({ walk, name, args, scope, at }: Call, script: string, scriptArgs: readonly Argument[]): void {
  const textOf = (words: readonly Argument[]) => words.map(({ literal, raw }) => ` ${literal ?? raw}`).join('')
  const literals = scriptArgs.map(({ literal }) => literal ?? null)
  const plain = programName(script)
  const { analysis } = walk
  const rest = textOf(scriptArgs)
  const { denied } = nameVariants(script, plain, literals, script + rest)
  const forms = [...new Set([...denied, ...pathVariants(script, rest, { ...scope, root: analysis.root })])]
  const listed = analysis.lists.deniedBy(forms, [[plain, ...literals]])
  if (listed !== undefined) analysis.deny('POLICY_DENIED', `Policy denies ${JSON.stringify(listed)}`, at)
  analysis.applyRules({
    name,
    args: args.map(({ literal }) => literal ?? null),
    text: name + textOf(args),
    otherTexts: forms,
    via: scope.via,
    at,
  })
}

/** Checks a file that is run. It must be in the workspace, and the same line must not write it. */
export function checkScriptFile(call: Call, argument: Argument): void {
  const { at } = argument
  const literal = argument.literal ?? argument.path
  if (literal === undefined) {
    if (mayBeOption(argument)) refuseUnclear(call, argument)
    else if (!call.leavesOpen)
      call.walk.analysis.deny('ARGUMENT_NOT_LITERAL', `The file that ${call.name} runs is only known at run time`, at)
  } else if (/^\/dev\/|^\/proc\/|^-?$/.test(literal)) {
    // Some programs read standard input if the name is empty.
    const source = literal === '' ? 'its standard input' : literal
    call.walk.analysis.deny('HIDDEN_COMMAND', `${call.name} runs code from ${source}`, at)
  } else {
    call.walk.analysis.addAccess(literal, 'read', call.scope, at)
    call.walk.analysis.addExecuted(literal, call.scope, at)
    const index = call.args.findIndex(({ raw }) => raw === argument.raw)
    checkListed(call, literal, index === -1 ? [] : call.args.slice(index + 1))
  }
}

function inspectForeignShell(call: Call): undefined {
  const [first] = call.args
  if (first?.literal === '--version') return undefined
  if (first === undefined) {
    call.walk.analysis.deny('HIDDEN_COMMAND', `${call.name} runs code from its standard input`, call.at)
  } else if (mayBeOption(first) || first.literal?.startsWith('/') === true) {
    call.walk.analysis.deny('INLINE_CODE', `Code for ${call.name} is not analyzed`, first.at)
  } else {
    checkAsProgram(call, knownText(first), call.args.slice(1), first.at)
    checkScriptFile(call, first)
    if (first.literal !== undefined) call.walk.analysis.addScript(first.literal, 'bash', call.scope)
  }
  return undefined
}

/** Tests of `find` with and without a value. */
const findValued =
  /^-(i?name|i?path|i?wholename|i?regex|i?lname|x?type|size|[acm]time|[acm]min|[ac]?newer|newer[aBcmt]{2}|maxdepth|mindepth|perm|user|group|uid|gid|printf|samefile|fstype|links|inum|used|regextype|context)$/
const findPlain =
  /^(-(print0?|prune|quit|ls|empty|o|a|or|and|not|depth|d|mount|xdev|x|follow|noleaf|daystart|readable|writable|executable|true|false|nouser|nogroup|ignore_readdir_race|[HLPE]|O\d|nowarn|warn)|[()!,])$/

function inspectFind(call: Call): undefined {
  const { walk, scope, args, at } = call
  const starts: Argument[] = []
  let deletes = false
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as Argument
    const { literal } = argument
    if (literal === undefined) {
      if (mayBeOption(argument) || /^[(!,]/.test(argument.lead)) return refuseUnclear(call, argument)
      starts.push(argument)
    } else if (/^-(exec|execdir|ok|okdir)$/.test(literal)) {
      const end = args.findIndex(
        ({ literal: other }, index) =>
          index > i && (other === ';' || (other === '+' && args[index - 1]?.literal === '{}')),
      )
      if (end === -1) return refuseUnclear(call, argument)
      const inner = args.slice(i + 1, end)
      const mark = inner.findIndex((word, index) => mayEnd(word, inner.slice(index + 1)))
      if (mark !== -1) return refuseUnclear(call, inner[mark] as Argument)
      const words = inner.map((word) => substituteBraces(word, starts))
      walk.run(words, { ...scope, via: [...scope.via, 'find'], stdin: undefined }, at)
      i = end
    } else if (literal === '-delete') {
      deletes = true
    } else if (/^-f(printf?|print0|ls)$/.test(literal)) {
      const target = args[++i]
      if (target?.literal === undefined) return refuseUnclear(call, target ?? argument)
      walk.analysis.addAccess(target.literal, 'write', scope, target.at)
      if (literal === '-fprintf') {
        i += 1
        if (args[i]?.splits === true) return refuseUnclear(call, args[i] as Argument)
      }
    } else if (findValued.test(literal)) {
      i += 1
      if (args[i]?.splits === true) return refuseUnclear(call, args[i] as Argument)
    } else if (!findPlain.test(literal)) {
      if (literal.startsWith('-')) return refuseUnclear(call, argument)
      starts.push(argument)
    }
  }
  if (deletes) {
    for (const start of starts) {
      if (start.literal === undefined) return refuseUnclear(call, start)
      walk.analysis.addAccess(start.literal, 'write', scope, start.at)
    }
  }
  return undefined
}

/**
 * Whether a word of `-exec` may become the `;` or `+` that ends it, with a word after it that could be another action. If
 * that word cannot be an option, find reports an error before anything runs.
 */
function mayEnd(word: Argument, behind: readonly Argument[]): boolean {
  if (word.literal !== undefined) return false
  // An unquoted word may expand to several, as may a pattern that matches files.
  if (word.splits) return true
  return /^([;+]|$)/.test(word.lead) && (/[*?[]/.test(word.raw) || behind.some(mayBeOption))
}

/** Returns a word of `-exec` in which `{}` is a path below the start of the search. */
function substituteBraces(word: Argument, starts: readonly Argument[]): Argument {
  if (word.literal?.includes('{}') !== true) return word
  const inside =
    word.literal === '{}' && starts.every(({ literal }) => literal !== undefined && !/^[-/~]|\.\./.test(literal))
  return {
    ...word,
    literal: undefined,
    lead: inside ? './' : word.literal.slice(0, word.literal.indexOf('{}')),
    inside,
  }
}

/** Options of `xargs` that name a placeholder for its input, and those that append the input. */
const placeholderOptions = ['I', 'i', 'J', 'replace']
const countOptions = ['L', 'l', 'n', 'max-args', 'max-lines']

function inspectXargs(call: Call): undefined {
  const read = readOptions(call.args, {
    flags: '0rtpxo',
    valued: 'nPLIsdEaJR',
    attached: 'lie',
    longFlags: ['null', 'no-run-if-empty', 'verbose', 'exit', 'interactive', 'show-limits', 'open-tty'],
    longValued: ['max-args', 'max-procs', 'max-chars', 'delimiter', 'arg-file'],
    longAttached: ['max-lines', 'replace', 'eof'],
  })
  if ('unclear' in read) return refuseUnclear(call, read.unclear)
  // If several of these options are used, implementations differ on whether the first or the last one applies.
  const placements = read.options.filter(({ name }) => placeholderOptions.includes(name) || countOptions.includes(name))
  const mark = placements.find(({ name }) => placeholderOptions.includes(name))
  if (mark !== undefined && placements.at(-1) !== mark) return refuseUnclear(call, mark.argument)
  const replaced = mark === undefined ? undefined : mark.value === '' ? '{}' : (mark.value ?? '')
  // The input replaces the placeholder in every word, or follows the last word.
  const words = read.operands.map((word) =>
    replaced !== undefined && (word.literal === undefined || word.literal.includes(replaced))
      ? {
          ...word,
          literal: undefined,
          lead: word.literal === undefined ? '' : word.lead.slice(0, word.lead.indexOf(replaced)),
        }
      : word,
  )
  const all = words.length === 0 ? [literalArgument('echo', call.at)] : words
  const more = replaced === undefined ? [unknownArgument(call.at)] : []
  call.walk.run([...all, ...more], { ...call.scope, via: [...call.scope.via, 'xargs'], stdin: undefined }, call.at)
  return undefined
}

/** Analyzes each operand as a line. */
function inspectLines(call: Call): undefined {
  for (const argument of call.args) {
    const { literal, at } = argument
    if (literal === undefined) return refuseUnclear(call, argument)
    if (
      /^-(k|-kill-others(-on-fail)?|-raw|r|-success=?\w*|-names=.*|-warmup=?\d*|-runs=?\d*|-prefix=?\w*|s|-passthrough-arguments|P)$/.test(
        literal,
      ) ||
      /^\d+$/.test(literal)
    )
      continue
    if (literal.startsWith('-')) return refuseUnclear(call, argument)
    const line = /^(npm|yarn|pnpm|bun|node):/.test(literal) ? literal.replace(':', ' run ') : literal
    call.walk.source(
      line.replace(/\*/g, ''),
      { ...call.scope, dialect: 'sh', via: [...call.scope.via, call.plain], stdin: undefined },
      at,
    )
  }
  return undefined
}
