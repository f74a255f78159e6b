import { parse } from 'unbash'
import { checkVariable } from './assignments.ts'
import { type CwdAfter, resolvePath, unionCwds } from './cwd.ts'
import { aliases, type Call, type Inspectors, refuseAlways, refuseUnclear } from './inspector.ts'
import { readOptions } from './options.ts'
import { collectFacts } from './script-facts.ts'
import { type Argument, knownText } from './words.ts'

/** Built-ins of the shell that run text, or change what later commands do. */
export const builtins: Inspectors = {
  cd: { inspect: moves },
  chdir: { inspect: moves },
  pushd: { inspect: moves },
  popd: {
    inspect: ({ scope }) => ({
      ok: scope.cwds?.length === 1 && scope.cwds[0] === '' ? scope.cwds : undefined,
      failed: scope.cwds,
    }),
  },
  eval: {
    inspect(call) {
      const words = literals(call, call.args)
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
      // It runs between later commands.
      if (collectFacts(parse(first.literal)).moves)
        call.walk.analysis.deny('CWD_UNKNOWN', 'Where a trap leads, only the run can tell', first.at)
      call.walk.source(
        first.literal,
        { ...call.scope, isEval: true, cwds: undefined, via: [...call.scope.via, 'trap'] },
        first.at,
      )
      return undefined
    },
  },
  ...aliases('source .', refuseAlways('what the file changes in this shell cannot be known')),
  alias: {
    inspect(call) {
      const odd = call.args.find(({ literal }) => literal === undefined || literal.includes('='))
      if (odd !== undefined) call.walk.analysis.deny('HIDDEN_COMMAND', 'An alias changes what later words mean', odd.at)
      return undefined
    },
  },
  ...aliases('export readonly declare typeset local', { inspect: declares }),
  ...aliases(
    'bind complete compgen compopt enable fc dlopen logout suspend',
    refuseAlways('it changes or runs commands of the shell'),
  ),
  hash: { inspect: (call) => onlyOptions(call, /^-[rdlt]+$/) },
  set: { inspect: sets },
  shopt: {
    inspect: (call) =>
      onlyOptions(
        call,
        /^-[supqo]+$|^(nullglob|dotglob|globstar|failglob|nocaseglob|nocasematch|inherit_errexit|huponexit|checkwinsize|histappend|pipefail|errexit|nounset|xtrace)$/,
      ),
  },
  read: { inspect: (call) => names(call, { flags: 'ersE', valued: 'adinNptu' }, 'a') },
  ...aliases('mapfile readarray', { inspect: (call) => names(call, { flags: 't', valued: 'dnOsu' }) }),
  getopts: { inspect: (call) => namesOf(call, call.args.slice(1, 2)) },
  unset: { inspect: (call) => names(call, { flags: 'vfn' }) },
  printf: {
    inspect(call) {
      const [first, second] = call.args
      if (first === undefined) return undefined
      if (first.literal === undefined)
        return first.lead === '' || first.lead.startsWith('-') ? optionOnly(call, first) : undefined
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
  let: refuseAlways('arithmetic in words is not seen through; use (( ))'),
  ...aliases('test [', {
    inspect(call) {
      for (const [index, { literal, at }] of call.args.entries()) {
        if (literal !== '-v' && literal !== '-R') continue
        if (!/^\w+$/.test(knownText(call.args[index + 1]))) {
          call.walk.analysis.deny('ARITHMETIC_NOT_KNOWN', `${literal} runs what it finds in an index`, at)
        }
      }
      return undefined
    },
  }),
}

function moves(call: Call): CwdAfter | undefined {
  const { walk, scope, at } = call
  const [target, ...more] = call.args.filter((argument) => !/^(-L|--)$/.test(knownText(argument)))
  // `-`, other options and cwds of the directory stack lead where earlier commands have been, or home.
  if (target?.literal === undefined || more.length > 0 || /^[-+]/.test(target.literal)) {
    walk.analysis.deny('CWD_UNKNOWN', `Where ${call.name} leads, only the run can tell`, at)
    return { ok: undefined, failed: scope.cwds }
  }
  const paths = resolvePath(target.literal, scope.cwds, walk.analysis.root)
  if (paths === 'outside') {
    walk.analysis.deny('OUTSIDE_WORKSPACE', `${JSON.stringify(target.literal)} is not inside the workspace`, at)
    return undefined
  }
  // From an unknown place a plain name only goes deeper.
  if (paths === 'unknown') return { ok: undefined, failed: undefined }
  return { ok: paths.reduce<CwdAfter['ok']>((cwds, path) => unionCwds(cwds, [path]), []), failed: scope.cwds }
}

function literals(call: Call, args: readonly Argument[]): string[] | undefined {
  const odd = args.find(({ literal }) => literal === undefined)
  if (odd !== undefined) {
    call.walk.analysis.deny(
      'COMMAND_NOT_LITERAL',
      `${call.name}: ${JSON.stringify(odd.raw)} is only known when the line runs`,
      odd.at,
    )
    return undefined
  }
  return args.map(knownText)
}

function declares(call: Call): undefined {
  for (const argument of call.args) {
    const { literal, lead, splits } = argument
    if (literal?.startsWith('-') === true || literal?.startsWith('+') === true) {
      // A reference, a number or a letter case would be another meaning for every later assignment.
      if (/[^aAgrxpfF-]/.test(literal.slice(1))) return refuseUnclear(call, argument)
      continue
    }
    const text = literal ?? lead
    const name = /^([A-Za-z_]\w*)(\+?=|$)/.exec(text)?.[1]
    if (name === undefined || (literal === undefined && !text.includes('='))) return refuseUnclear(call, argument)
    // Elsewhere the shell splits the value, and what falls off is a word of its own.
    if (splits && (call.scope.dialect === 'sh' || call.scope.via.length > 0)) return refuseUnclear(call, argument)
    const equals = text.indexOf('=')
    checkVariable(call.walk, name, equals === -1 ? '' : literal?.slice(equals + 1), call.scope, argument.at)
  }
  return undefined
}

function optionOnly(call: Call, argument: Argument): undefined {
  // Quoted, it is one word: only "-v" itself could do harm, and needs another word behind it.
  return argument.splits || call.args.length > 1 ? refuseUnclear(call, argument) : undefined
}

function onlyOptions(call: Call, allowed: RegExp): undefined {
  const odd = call.args.find((argument) => !allowed.test(knownText(argument)))
  return odd === undefined ? undefined : refuseUnclear(call, odd)
}

function sets(call: Call): undefined {
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

/** Variables that the operands name, and the value of one option. */
function names(call: Call, table: Parameters<typeof readOptions>[1], nameOption?: string): undefined {
  const read = readOptions(call.args, table)
  if ('unclear' in read) return refuseUnclear(call, read.unclear)
  for (const { name, value, argument } of read.options) {
    if (name === nameOption) checkVariable(call.walk, value ?? '', undefined, call.scope, argument.at)
  }
  return namesOf(call, read.rest)
}

function namesOf(call: Call, args: readonly Argument[]): undefined {
  for (const argument of args) {
    if (argument.literal === undefined) return refuseUnclear(call, argument)
    checkVariable(call.walk, argument.literal, undefined, call.scope, argument.at)
  }
  return undefined
}
