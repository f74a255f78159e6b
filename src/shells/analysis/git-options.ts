import { didYouMean } from '../../util/check-options.ts'
import { type Call, type Inspector, refuseUnclear } from './inspector.ts'
import { isLong } from './options.ts'
import { type Argument, knownText, literalArgument, mayBeOption } from './words.ts'

/** Inspects the options, settings and subcommands of git that start commands. */
export const git: Inspector = { inspect: inspectGit }

function inspectGit(call: Call): undefined {
  const { walk, scope, args } = call
  let i = 0
  for (; i < args.length; i++) {
    const argument = args[i] as Argument
    const { literal } = argument
    if (literal === undefined) return refuseUnclear(call, argument)
    if (!literal.startsWith('-')) break
    if (literal === '-C') {
      const directory = args[++i]
      if (directory?.literal === undefined) return refuseUnclear(call, directory ?? argument)
      walk.analysis.addAccess(directory.literal, 'read', scope, directory.at)
    } else if (literal === '-c') {
      const setting = args[++i]
      if (setting?.literal === undefined || !isHarmlessSetting(setting.literal))
        return setting === undefined ? refuseUnclear(call, argument) : denySetting(call, setting)
    } else if (!harmlessOptions.test(literal)) {
      return refuseUnclear(call, argument)
    }
  }
  const sub = args[i]
  if (sub === undefined) return undefined
  const name = knownText(sub)
  if (!subcommands.has(name)) {
    walk.analysis.deny(
      'HIDDEN_COMMAND',
      `git ${JSON.stringify(name)} is not a command of git itself, so it may be an alias${didYouMean(name, [...subcommands])}`,
      sub.at,
    )
    return undefined
  }
  return inspectSub(call, name, args.slice(i + 1))
}

const harmlessOptions =
  /^(--no-pager|-P|--version|-v|--help|-h|--bare|--no-replace-objects|--no-lazy-fetch|--no-optional-locks|--(literal|glob|noglob|icase)-pathspecs|--no-advice|--html-path|--man-path|--info-path)$/

const subcommands = new Set(
  `add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout
  checkout-index cherry cherry-pick citool clean clone column commit commit-graph commit-tree config count-objects describe diff
  diff-files diff-index diff-tree difftool fast-export fast-import fetch fmt-merge-msg for-each-ref format-patch fsck gc get-tar-commit-id grep
  hash-object help index-pack init interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo maintenance merge merge-base merge-file
  merge-tree mktag mktree mv name-rev notes pack-objects pack-refs patch-id prune pull push range-diff read-tree rebase reflog remote
  repack replace request-pull rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout
  stage stash status stripspace submodule switch symbolic-ref tag unpack-objects update-index update-ref update-server-info var
  verify-commit verify-pack verify-tag version whatchanged worktree write-tree`.split(/\s+/),
)

/** Options of subcommands that start a command. */
const starters: Readonly<Record<string, { readonly long: readonly string[]; readonly short?: readonly string[] }>> = {
  grep: { long: ['open-files-in-pager'], short: ['O'] },
  rebase: { long: ['exec', 'interactive', 'edit-todo'], short: ['x', 'i'] },
  clone: { long: ['upload-pack', 'config', 'template', 'server-option'], short: ['u', 'c'] },
  init: { long: ['template'] },
  fetch: { long: ['upload-pack', 'exec'] },
  pull: { long: ['upload-pack', 'exec'] },
  push: { long: ['receive-pack', 'exec'] },
  'ls-remote': { long: ['upload-pack', 'exec'] },
  archive: { long: ['exec', 'remote'] },
  'fast-import': { long: ['import-marks'] },
  'request-pull': { long: [] },
  remote: { long: [] },
}

function inspectSub(call: Call, sub: string, args: readonly Argument[]): undefined {
  const { walk, scope, at } = call
  for (const { literal, lead, at: position } of args) {
    if (/^(ext|fd)::/.test(literal ?? lead))
      walk.analysis.deny('HIDDEN_COMMAND', 'git: the URL starts a command', position)
  }
  const starter = starters[sub]
  if (starter !== undefined) {
    for (const argument of args) {
      const text = knownText(argument)
      if (text === '--') break
      const short = /^-[^-]/.test(text) && starter.short?.some((letter) => text.includes(letter)) === true
      if (short || isLong(argument, starter.long) || (argument.literal === undefined && mayBeOption(argument)))
        return refuseUnclear(call, argument)
    }
  }
  const [first, ...operands] = args
  switch (sub) {
    case 'bisect':
      if (first?.literal === 'run') walk.run(operands, { ...scope, via: [...scope.via, 'git'] }, at)
      else if (first !== undefined && first.literal === undefined) return refuseUnclear(call, first)
      return undefined
    case 'submodule': {
      const words = args.filter(({ literal }) => literal !== '--quiet' && literal !== '--recursive' && literal !== '-q')
      const unexpected = words.find(({ literal }) => literal === undefined)
      if (unexpected !== undefined) return refuseUnclear(call, unexpected)
      if (words[0]?.literal !== 'foreach') return undefined
      const script = words.slice(1).map(knownText).join(' ')
      walk.source(script, { ...scope, dialect: 'sh', cwds: undefined, via: [...scope.via, 'git'] }, at)
      return undefined
    }
    case 'config':
      return inspectConfig(call, args)
    case 'maintenance':
      return first?.literal === 'run' || first === undefined ? undefined : refuseUnclear(call, first)
    case 'difftool':
    case 'citool':
      return refuseUnclear(call, literalArgument(sub, at))
    default:
      return undefined
  }
}

function inspectConfig(call: Call, args: readonly Argument[]): undefined {
  const [start] = args
  if (start !== undefined && start.literal === undefined) return refuseUnclear(call, start)
  const words = args.map(knownText)
  if (words.some((word) => /^(-e|--edit|-f|--file|--blob|edit)$|^--(file|blob)=/.test(word)))
    return refuseUnclear(call, args[0] as Argument)
  const reads = /^(-l|--list|--get|--get-all|--get-regexp|--get-urlmatch|--name-only|--unset|--unset-all)$/
  if (/^(list|get|unset)$/.test(knownText(start)) || words.some((word) => reads.test(word))) return undefined
  const operands = args.filter(({ literal }) => literal === undefined || !literal.startsWith('-'))
  const [key, value] = operands[0]?.literal === 'set' ? operands.slice(1) : operands
  // One unknown word may expand to two.
  if (key === undefined || (value === undefined && !key.splits)) return undefined
  if (!isHarmlessSetting(`${knownText(key)}=${knownText(value)}`)) return denySetting(call, key)
  return undefined
}

function denySetting(call: Call, setting: Argument): undefined {
  call.walk.analysis.deny(
    'VARIABLE_DENIED',
    `git: the setting ${JSON.stringify(setting.raw)} may start commands`,
    setting.at,
  )
  return undefined
}

/** Whether a setting cannot start a command. */
function isHarmlessSetting(setting: string): boolean {
  const key = setting.replace(/=.*/s, '')
  const value = setting.slice(key.length + 1)
  if (/^(core|pager)\.\w*pager$/i.test(key)) return value === '' || value === 'cat'
  if (/^core\.fsmonitor$/i.test(key)) return value === 'false' || value === 'true'
  return /^(user\.(name|email|signingkey)|color\.[\w.]+|advice\.\w+|init\.defaultbranch|core\.(autocrlf|eol|quotepath|filemode|ignorecase|longpaths|symlinks|safecrlf|whitespace|abbrev|preloadindex|precomposeunicode|compression)|commit\.(gpgsign|verbose)|tag\.(gpgsign|sort)|pull\.(rebase|ff)|push\.(default|autosetupremote|followtags)|merge\.(conflictstyle|ff|renamelimit)|diff\.(renames|renamelimit|algorithm|colormoved|context|noprefix|mnemonicprefix)|rebase\.(autostash|autosquash)|fetch\.(prune|parallel)|rerere\.enabled|log\.\w+|status\.\w+|branch\.[\w./-]+|http\.(postbuffer|lowspeedlimit|lowspeedtime|version)|gc\.\w+|feature\.\w+|index\.\w+|protocol\.version|safe\.directory|i18n\.\w+|grep\.\w+|blame\.\w+|submodule\.(recurse|fetchjobs)|maintenance\.auto|pack\.\w+|column\.ui|help\.autocorrect)$/i.test(
    key,
  )
}
