import { builtInDenial } from './denylist.ts'
import { aliases, type Call, type Inspectors, refuseAlways, refuseOptions, refuseUnclear } from './inspector.ts'
import { nameVariants } from './name-variants.ts'
import { readOptions } from './options.ts'
import type { TextRange } from './verdict.ts'
import { type Argument, knownText, literalArgument, mayBeOption, unknownArgument } from './words.ts'

/** Commands that run text as a script, or start a command many times. */
export const launchers: Inspectors = {
  ...aliases('bash rbash', { inspect: (call) => shell(call, 'bash') }),
  ...aliases('sh dash ash', { inspect: (call) => shell(call, 'sh') }),
  ...aliases('zsh ksh mksh yash csh tcsh fish elvish nu xonsh pwsh powershell cmd oil osh', { inspect: foreignShell }),
  find: { inspect: find },
  gfind: { inspect: find },
  xargs: { inspect: xargs },
  gxargs: { inspect: xargs },
  ...aliases('fd fdfind', { inspect: (call) => refuseOptions(call, /^-[^-]*[xX]|^--e/) }),
  hyperfine: { inspect: (call) => scripts(call) },
  ...aliases('concurrently', { inspect: (call) => scripts(call) }),
  ...aliases('parallel pexec', refuseAlways('it puts its input into the lines that it runs')),
}

function shell(call: Call, dialect: 'bash' | 'sh'): undefined {
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
    else walk.analysis.deny('HIDDEN_COMMAND', `${call.name} runs what comes on its standard input`, at)
    return undefined
  }
  if (operand.literal === undefined) {
    walk.analysis.deny(
      'COMMAND_NOT_LITERAL',
      `What ${call.name} would run is only known when the line runs`,
      operand.at,
    )
  } else if (runsText) {
    walk.source(operand.literal, inner, operand.at)
  } else {
    asProgram(call, operand.literal, call.args.slice(i + 1), operand.at)
    checkScriptFile(call, operand)
  }
  return undefined
}

/**
 * A script is held against what forbids the program of that name: where no such file is, shells look for the program, and
 * the file by itself would be refused as well.
 */
function asProgram(
  { walk, name, args, scope, at }: Call,
  script: string,
  rest: readonly Argument[],
  where: TextRange,
): void {
  const textOf = (words: readonly Argument[]) => words.map(({ literal, raw }) => ` ${literal ?? raw}`).join('')
  const literals = rest.map(({ literal }) => literal ?? null)
  const plain = script
    .slice(script.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/\.(exe|cmd|bat|com)$/, '')
  const { denied } = nameVariants(script, plain, literals, script + textOf(rest))
  const { analysis } = walk
  const builtIn = builtInDenial(plain, rest)
  if (builtIn !== undefined) analysis.deny('BUILT_IN_DENIED', builtIn, where)
  const listed = analysis.lists.deniedBy(denied)
  if (listed !== undefined) analysis.deny('POLICY_DENIED', `Policy denies ${JSON.stringify(listed)}`, where)
  // Rules that restrict hold for it as for another way to write the command.
  analysis.applyRules({
    name,
    args: args.map(({ literal }) => literal ?? null),
    text: name + textOf(args),
    otherTexts: denied,
    via: scope.via,
    at,
  })
}

/** A file that is run as a program: it has to lie in the workspace, and may not be written by the same line. */
export function checkScriptFile(call: Call, argument: Argument): void {
  const { literal, at } = argument
  if (literal === undefined) {
    if (mayBeOption(argument)) refuseUnclear(call, argument)
    else call.walk.analysis.deny('ARGUMENT_NOT_LITERAL', `Which file ${call.name} runs, only the run can tell`, at)
  } else if (/^\/dev\/|^\/proc\/|^-?$/.test(literal)) {
    // Some take an empty name for none.
    const source = literal === '' ? 'its standard input' : literal
    call.walk.analysis.deny('HIDDEN_COMMAND', `${call.name} runs what comes on ${source}`, at)
  } else {
    call.walk.analysis.addAccess(literal, 'read', call.scope, at)
    call.walk.analysis.addExecuted(literal, call.scope, at)
  }
}

function foreignShell(call: Call): undefined {
  const [first] = call.args
  if (first?.literal === '--version') return undefined
  if (first === undefined) {
    call.walk.analysis.deny('HIDDEN_COMMAND', `${call.name} runs what comes on its standard input`, call.at)
  } else if (mayBeOption(first) || first.literal?.startsWith('/') === true) {
    call.walk.analysis.deny('INLINE_CODE', `The language of ${call.name} is not judged`, first.at)
  } else {
    asProgram(call, knownText(first), call.args.slice(1), first.at)
    checkScriptFile(call, first)
  }
  return undefined
}

/** Tests of `find` that take a value, and those that take none. */
const findValued =
  /^-(i?name|i?path|i?wholename|i?regex|i?lname|x?type|size|[acm]time|[acm]min|[ac]?newer|newer[aBcmt]{2}|maxdepth|mindepth|perm|user|group|uid|gid|printf|samefile|fstype|links|inum|used|regextype|context)$/
const findPlain =
  /^(-(print0?|prune|quit|ls|empty|o|a|or|and|not|depth|d|mount|xdev|x|follow|noleaf|daystart|readable|writable|executable|true|false|nouser|nogroup|ignore_readdir_race|[HLPE]|O\d|nowarn|warn)|[()!,])$/

function find(call: Call): undefined {
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
      const words = inner.map((word) => found(word, starts))
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
 * Whether a word of `-exec` may turn out to be the `;` or `+` that ends it, with a word behind it that could be another
 * action: one that does not look like an option is an error of find's own, before anything runs.
 */
function mayEnd(word: Argument, behind: readonly Argument[]): boolean {
  if (word.literal !== undefined) return false
  // Unquoted, it may bring the words behind it along, as a pattern may that names files.
  if (word.splits) return true
  return /^([;+]|$)/.test(word.lead) && (/[*?[]/.test(word.raw) || behind.some(mayBeOption))
}

/** A word of `-exec`: `{}` becomes a path below where the search starts. */
function found(word: Argument, starts: readonly Argument[]): Argument {
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

/** Options of `xargs` that name the text its input stands for, and those that give it as words behind the others. */
const marks = ['I', 'i', 'J', 'replace']
const counts = ['L', 'l', 'n', 'max-args', 'max-lines']

function xargs(call: Call): undefined {
  const read = readOptions(call.args, {
    flags: '0rtpxo',
    valued: 'nPLIsdEaJR',
    attached: 'lie',
    longFlags: ['null', 'no-run-if-empty', 'verbose', 'exit', 'interactive', 'show-limits', 'open-tty'],
    longValued: ['max-args', 'max-procs', 'max-chars', 'delimiter', 'arg-file'],
    longAttached: ['max-lines', 'replace', 'eof'],
  })
  if ('unclear' in read) return refuseUnclear(call, read.unclear)
  // Of the options that say where the input goes, the last one holds in some, and the first in others.
  const placements = read.options.filter(({ name }) => marks.includes(name) || counts.includes(name))
  const mark = placements.find(({ name }) => marks.includes(name))
  if (mark !== undefined && placements.at(-1) !== mark) return refuseUnclear(call, mark.argument)
  const replaced = mark === undefined ? undefined : mark.value === '' ? '{}' : (mark.value ?? '')
  // What it reads stands in every word that holds the mark, or behind the last one.
  const words = read.rest.map((word) =>
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

/** Each operand is a line of its own. */
function scripts(call: Call): undefined {
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
