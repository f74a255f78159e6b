import { parse } from 'unbash'
import { checkVariable } from './assignments.ts'
import { type CwdAfter, resolvePath, unionCwds } from './cwd.ts'
import { aliases, type Call, type Inspectors, refuseAlways, refuseUnclear } from './inspector.ts'
import { checkScriptFile } from './launchers.ts'
import { readOptions } from './options.ts'
import { collectFacts } from './script-facts.ts'
import { type Argument, knownText } from './words.ts'

/** Shell built-ins that run text or change the behaviour of later commands. */
const sourced = refuseAlways('the changes of the file to this shell cannot be analyzed')

/** Inspects `source`. Its file is evaluated as every script is. */
function inspectSource(call: Call): undefined {
  const { walk, args, scope } = call
  const file = args.find(({ literal }) => literal !== '--')
  // A name without a slash is looked up in PATH.
  const path = file?.literal ?? file?.path
  if (!walk.analysis.judgesScripts || file === undefined || !/^[^-].*\/|^$/s.test(path ?? ''))
    return void sourced.inspect(call)
  checkScriptFile(call, file)
  walk.analysis.addScript(path ?? '', scope.dialect, scope, { isSourced: true })
  scope.certain?.forgetFunctions()
  // A file that changes the directory is refused, see `analyzeSource`.
  return undefined
}

export const builtins: Inspectors = {
  cd: { inspect: inspectCd },
  chdir: { inspect: inspectCd },
  pushd: { inspect: inspectCd },
  popd: {
    inspect: ({ scope }) => ({
      ok: scope.cwds?.length === 1 && scope.cwds[0] === '' ? scope.cwds : undefined,
      failed: scope.cwds,
    }),
  },
  eval: {
    inspect(call) {
      const words = literalTexts(call, call.args)
      if (words === undefined) return undefined
      const text = (words[0] === '--' ? words.slice(1) : words).join(' ')
      return call.walk.source(text, { ...call.scope, isEval: true, via: [...call.scope.via, 'eval'] }, call.at)
    },
  },
  trap: {
    inspect(call) {
      const [first] = call.args[0]?.literal === '--' ? call.args.slice(1) : call.args
      if (first === undefined || first.literal === '-' || first.literal === '-p' || first.literal === '-l')
        return undefined
      if (first.literal === undefined) return refuseUnclear(call, first)
      // A trap runs between other commands.
      if (collectFacts(parse(first.literal)).changesCwd)
        call.walk.analysis.deny('CWD_UNKNOWN', 'The directory after a trap is only known at run time', first.at)
      call.walk.source(
        first.literal,
        {
          ...call.scope,
          ...{ isEval: true, via: [...call.scope.via, 'trap'] },
          cwds: call.walk.facts.movesAnywhere ? undefined : call.scope.cwds,
        },
        first.at,
      )
      return undefined
    },
  },
  ...aliases('source .', { inspect: inspectSource }),
  alias: {
    inspect(call) {
      const unexpected = call.args.find(({ literal }) => literal === undefined || literal.includes('='))
      if (unexpected !== undefined)
        call.walk.analysis.deny('HIDDEN_COMMAND', 'An alias changes the meaning of later words', unexpected.at)
      return undefined
    },
  },
  ...aliases('export readonly declare typeset local', { inspect: inspectDeclaration }),
  ...aliases(
    'bind complete compgen compopt enable fc dlopen logout suspend',
    refuseAlways('it changes or runs commands of the shell'),
  ),
  hash: { inspect: (call) => allowOnly(call, /^-[rdlt]+$/) },
  set: { inspect: inspectSet },
  shopt: {
    inspect: (call) =>
      allowOnly(
        call,
        /^-[supqo]+$|^(nullglob|dotglob|globstar|failglob|nocaseglob|nocasematch|inherit_errexit|huponexit|checkwinsize|histappend|pipefail|errexit|nounset|xtrace)$/,
      ),
  },
  read: { inspect: (call) => checkNames(call, { flags: 'ersE', valued: 'adinNptu' }, 'a') },
  ...aliases('mapfile readarray', { inspect: (call) => checkNames(call, { flags: 't', valued: 'dnOsu' }) }),
  getopts: { inspect: (call) => checkOperandNames(call, call.args.slice(1, 2)) },
  unset: { inspect: (call) => checkNames(call, { flags: 'vfn' }) },
  printf: {
    inspect(call) {
      const [first, second] = call.args
      if (first === undefined) return undefined
      if (first.literal === undefined)
        return first.lead === '' || first.lead.startsWith('-') ? refuseUnlessSingleWord(call, first) : undefined
      if (!first.literal.startsWith('-v')) return undefined
      const target = first.literal === '-v' ? second?.literal : first.literal.slice(2)
      if (target === undefined) return refuseUnclear(call, second ?? first)
      checkVariable(call.walk, target, undefined, call.scope, first.at)
      return undefined
    },
  },
  wait: {
    inspect: (call) =>
      call.args.some(({ literal }) => literal?.startsWith('-p') === true)
        ? refuseUnclear(call, call.args[0] as Argument)
        : undefined,
  },
  let: refuseAlways('arithmetic in words is not analyzed; use (( ))'),
  ...aliases('test [', {
    inspect(call) {
      for (const [index, { literal, at }] of call.args.entries()) {
        if (literal !== '-v' && literal !== '-R') continue
        if (!/^\w+$/.test(knownText(call.args[index + 1]))) {
          call.walk.analysis.deny('ARITHMETIC_NOT_KNOWN', `${literal} may run commands in an index`, at)
        }
      }
      return undefined
    },
  }),
}

function inspectCd(call: Call): CwdAfter | undefined {
  const { walk, scope, at } = call
  const [target, ...more] = call.args.filter((argument) => !/^(-L|--)$/.test(knownText(argument)))
  // `-`, other options and entries of the directory stack lead to earlier directories or to the home directory.
  const path = target?.literal ?? target?.path
  if (path === undefined || more.length > 0 || /^[-+]/.test(path)) {
    walk.analysis.deny('CWD_UNKNOWN', `The directory after ${call.name} is only known at run time`, at)
    return { ok: undefined, failed: scope.cwds }
  }
  walk.analysis.addLeft(path, scope)
  const paths = resolvePath(path, scope.cwds, walk.analysis.root)
  if (paths === 'outside') {
    if (walk.analysis.isScript) return { ok: undefined, failed: scope.cwds }
    walk.analysis.deny('OUTSIDE_WORKSPACE', `${JSON.stringify(path)} is not inside the workspace`, at)
    return undefined
  }
  // From an unknown directory, a plain name only leads further down.
  if (paths === 'unknown') return { ok: undefined, failed: undefined }
  return { ok: paths.reduce<CwdAfter['ok']>((cwds, path) => unionCwds(cwds, [path]), []), failed: scope.cwds }
}

function literalTexts(call: Call, args: readonly Argument[]): string[] | undefined {
  const unexpected = args.find(({ literal }) => literal === undefined)
  if (unexpected !== undefined) {
    call.walk.analysis.deny(
      'COMMAND_NOT_LITERAL',
      `${call.name}: ${JSON.stringify(unexpected.raw)} is only known at run time`,
      unexpected.at,
    )
    return undefined
  }
  return args.map(knownText)
}

function inspectDeclaration(call: Call): undefined {
  for (const argument of call.args) {
    const { literal, lead, splits } = argument
    if (literal?.startsWith('-') === true || literal?.startsWith('+') === true) {
      // Reference, integer and case attributes change the meaning of every later assignment.
      if (/[^aAgrxpfF-]/.test(literal.slice(1))) return refuseUnclear(call, argument)
      continue
    }
    const text = literal ?? lead
    if (mayHoldList(call, argument)) return refuseUnclear(call, argument)
    const name = /^([A-Za-z_]\w*)(\+?=|$)/.exec(text)?.[1]
    if (name === undefined || (literal === undefined && !text.includes('='))) return refuseUnclear(call, argument)
    // In sh, and after another command, the value is split, and the parts become separate words.
    if (splits && (call.scope.dialect === 'sh' || call.scope.via.length > 0)) return refuseUnclear(call, argument)
    const equals = text.indexOf('=')
    // In a script, a variable without a value keeps the one whose assignment was checked.
    if (equals === -1 && call.name === 'export' && call.walk.analysis.isScript && !call.walk.facts.isShared) continue
    const raw = equals === -1 || call.scope.via.length > 0 ? '' : argument.raw.slice(argument.raw.indexOf('=') + 1)
    checkVariable(call.walk, name, equals === -1 ? '' : literal?.slice(equals + 1), call.scope, argument.at, raw)
  }
  return undefined
}

/**
 * Whether bash may read the value of a declaration as a list: a text in parentheses for an array is expanded a second time.
 */
function mayHoldList({ name, walk, scope, args }: Call, { literal, lead, raw }: Argument): boolean {
  const text = literal ?? lead
  const equals = text.indexOf('=')
  // Parentheses without quotes are a list that is expanded once.
  if (equals === -1 || /^[^=]*=(\(|[\w./:-]*$)/.test(raw)) return false
  const start = text.slice(equals + 1)
  if (literal === undefined ? start !== '' && !start.startsWith('(') : !start.startsWith('(')) return false
  const options = args.map(knownText).filter((word) => /^[-+]/.test(word))
  if (options.some((option) => /[aA]/.test(option))) return true
  if (name === 'export' || name === 'readonly') return false
  if (walk.facts.arrays.has(/^\w*/.exec(text)?.[0] ?? '')) return true
  // The shell that runs the text has arrays of its own. In a function, a declaration without -g makes another variable.
  const isOuter = scope.enclosingFunctions.length === 0 || options.some((option) => option.includes('g'))
  return walk.facts.isShared && isOuter
}

function refuseUnlessSingleWord(call: Call, argument: Argument): undefined {
  // A quoted word stays one word. It is only harmful as "-v", which needs another word after it.
  return argument.splits || call.args.length > 1 ? refuseUnclear(call, argument) : undefined
}

function allowOnly(call: Call, allowed: RegExp): undefined {
  const unexpected = call.args.find((argument) => !allowed.test(knownText(argument)))
  return unexpected === undefined ? undefined : refuseUnclear(call, unexpected)
}

function inspectSet(call: Call): undefined {
  for (const argument of call.args) {
    const { literal } = argument
    if (literal === '--' || literal === '-') return undefined
    if (literal === undefined)
      return argument.lead === '' || /^[-+]/.test(argument.lead) ? refuseUnclear(call, argument) : undefined
    if (/^[-+]/.test(literal)) {
      if (/[^abefhmnuvxCEHTBo]/.test(literal.slice(1))) return refuseUnclear(call, argument)
    } else if (
      !/^(pipefail|errexit|nounset|xtrace|verbose|noglob|noclobber|allexport|errtrace|functrace|noexec)$/.test(literal)
    ) {
      return undefined
    }
  }
  return undefined
}

/** Checks the variables that are named by operands and by the value of one option. */
function checkNames(call: Call, table: Parameters<typeof readOptions>[1], nameOption?: string): undefined {
  const read = readOptions(call.args, table)
  if ('unclear' in read) return refuseUnclear(call, read.unclear)
  for (const { name, value, argument } of read.options) {
    if (name === nameOption) checkVariable(call.walk, value ?? '', undefined, call.scope, argument.at)
  }
  return checkOperandNames(call, read.operands)
}

function checkOperandNames(call: Call, args: readonly Argument[]): undefined {
  for (const argument of args) {
    if (argument.literal === undefined) return refuseUnclear(call, argument)
    checkVariable(call.walk, argument.literal, undefined, call.scope, argument.at)
  }
  return undefined
}
