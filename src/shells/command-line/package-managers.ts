import { type Call, type Inspectors, named, refuses, unclear, withoutOptions } from './inspect.ts'
import { scriptFile } from './launchers.ts'
import { type OptionTable, readOptions } from './options.ts'
import { type Argument, knownText, literalArgument, mayBeOption } from './words.ts'
import { afterAssignments } from './wrappers.ts'

/** Package managers and task runners: what of their words is a command. */
export const packageManagers: Inspectors = {
  npm: { inspect: (call) => manager(call, ['exec', 'x'], ['explore']) },
  pnpm: { inspect: (call) => manager(call, ['exec', 'dlx'], []) },
  yarn: { inspect: (call) => manager(call, ['exec', 'dlx'], []) },
  bun: { inspect: (call) => manager(call, ['x'], []) },
  ...named('npx pnpx bunx pnpm-exec', { inspect: (call) => execute(call, call.args) }),
  uv: {
    inspect: (call) =>
      afterWord(call, ['run', 'x'], {
        flags: 'q',
        longFlags: ['quiet', 'frozen', 'locked', 'no-sync', 'dev', 'all-extras', 'isolated', 'no-project'],
        longValued: ['with', 'python', 'extra', 'group', 'directory', 'project', 'package'],
        valued: 'p',
      }),
  },
  ...named('poetry pipenv pdm rye hatch conda mamba micromamba', {
    inspect: (call) =>
      afterWord(call, ['run'], {
        flags: 'q',
        longFlags: ['no-capture-output', 'live-stream'],
        longValued: ['name', 'prefix'],
        valued: 'np',
      }),
  }),
  ...named('uvx pipx', {
    inspect: (call) => (call.plain === 'uvx' ? execute(call, call.args) : afterWord(call, ['run'], { flags: '' })),
  }),
  ...named('bundle rbenv pyenv nodenv asdf mise nodebrew volta fnm', {
    inspect: (call) => afterWord(call, ['exec', 'run', 'x'], { flags: '', longValued: ['node', 'using'] }),
  }),
  rustup: { inspect: (call) => afterWord(call, ['run'], { flags: '', longFlags: ['install'] }, 1) },
  direnv: { inspect: (call) => afterWord(call, ['exec'], { flags: '' }, 1) },
  ...named('nix nix-shell guix devbox flox', {
    inspect: (call) => withoutOptions(call, /^(--run|--command|-c|shell|develop|run|exec)$/),
  }),
  deno: {
    inspect(call) {
      const [first] = call.args
      if (first?.literal === 'eval' || first?.literal === 'repl' || first === undefined) {
        call.walk.judge.deny('INLINE_CODE', 'The code for deno is not judged', call.at)
      } else if (first.literal === undefined) return unclear(call, first)
      return undefined
    },
  },
  ...named('make gmake bmake', { inspect: make }),
  ...named('just task mage rake invoke', {
    inspect: (call) =>
      withoutOptions(
        call,
        /^(--shell|--shell-arg|--command|-c|--choose|--chooser|-e|--edit|--execute|-E|-p|--execute-print|--execute-continue|--rakelib|-r|-f.*:.*)$/,
      ),
  }),
  cmake: {
    inspect(call) {
      const [first, second, ...rest] = call.args
      if (first?.literal !== '-E') return undefined
      if (second?.literal === undefined) return unclear(call, second ?? first)
      if (/^(env|time|chdir)$/.test(second.literal)) {
        const words =
          second.literal === 'env' ? afterAssignments(call, rest) : second.literal === 'chdir' ? rest.slice(1) : rest
        if (words !== undefined && words.length > 0)
          call.walk.run(words, { ...call.scope, via: [...call.scope.via, 'cmake'] }, call.at)
      }
      return undefined
    },
  },
  ...named('snap flatpak', refuses('it acts on the system')),
}

const SHELL_OPTIONS =
  /^--?(script-shell|node-options|shell|git|editor|viewer|globalconfig|userconfig|shell-emulator|call|c|shell-mode|script-prepend-node-path|ignore-path|pnpmfile|use-yarnrc|use-node-version|onload-script|preload|require)(=|$)/

const npmValued = /^(-C|--prefix|-w|--workspace|--registry|--loglevel)$/
const valued = /^(-C|--prefix|--dir|--cwd|--filter|-F|--registry|--loglevel)$/

/** Options in front of the subcommand that take no word. */
const npmFlags = /^(-[adfghlnpqsvyBDEOPS]|-d+|-ws|-iwr)$/
const flags = /^-[abdfghlqrsvwyDEOP]$/
const longFlags =
  /^--(no-[\w-]+|silent|quiet|verbose|yes|global|force|offline|prefer-offline|prefer-online|json|long|workspaces|include-workspace-root|if-present|ignore-scripts|version|versions|help|save|save-dev|save-exact|save-optional|save-peer|save-prod|production|dry-run|legacy-peer-deps|foreground-scripts|parseable|progress|timing|color|recursive|workspace-root|parallel|stream|bail|aggregate-output|frozen-lockfile|prod|dev|hot|watch|bun|smol|non-interactive)$/

/** Whether an option may take the next word for its value: what looks like the subcommand would be none. */
function mayTake(plain: string, option: string, next: string): boolean {
  if (option.includes('=') || next === '' || next.startsWith('-')) return false
  const isFlag = longFlags.test(option) || (plain === 'npm' ? npmFlags : flags).test(option)
  return !isFlag || /^(true|false|null|always)$/.test(next)
}

function manager(call: Call, executes: readonly string[], explores: readonly string[]): undefined {
  const { args } = call
  const rest: Argument[] = []
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as Argument
    const { literal } = argument
    if (literal === undefined) {
      if (rest.length === 0) return unclear(call, argument)
      // Behind the name of a script, an option would still be npm's.
      if (mayBeOption(argument) && (argument.splits || call.plain === 'npm')) return unclear(call, argument)
    } else if (
      literal === '--' &&
      rest.length > 0 &&
      !executes.includes(knownText(rest[0])) &&
      !explores.includes(knownText(rest[0]))
    ) {
      // The rest goes to the script.
      rest.push(...args.slice(i + 1))
      break
    } else if (rest.length === 0 && literal.startsWith('-')) {
      if (SHELL_OPTIONS.test(literal)) return unclear(call, argument)
      if (call.plain === 'bun' && /^(-[epi]|--eval|--print)/.test(literal)) return unclear(call, argument)
      if ((call.plain === 'npm' ? npmValued : valued).test(literal)) {
        const value = args[++i]
        if (value?.literal === undefined) return unclear(call, value ?? argument)
        if (/^(-C|--prefix|--dir|--cwd)$/.test(literal))
          call.walk.judge.access(value.literal, 'read', call.scope, value.at)
      } else if (!/^--?[\w-]+(=[\w.:/@-]*)?$/.test(literal) || mayTake(call.plain, literal, knownText(args[i + 1])))
        return unclear(call, argument)
      continue
    } else if (SHELL_OPTIONS.test(literal) && !executes.includes(knownText(rest[0])) && !/^-c$/.test(literal)) {
      return unclear(call, argument)
    }
    rest.push(argument)
  }
  for (const [index, argument] of args.entries()) {
    const place = /^(?:-C|--prefix|--dir|--cwd)(?:=(.*))?$/.exec(knownText(argument))
    if (place === null || args.slice(0, index).some(({ literal }) => literal === '--')) continue
    const value = place[1] ?? args[index + 1]?.literal
    if (value === undefined) return unclear(call, argument)
    call.walk.judge.access(value, 'read', call.scope, argument.at)
  }
  call.walk.judge.runs('package.json', call.scope, call.at)
  const sub = rest[0]?.literal
  if (sub === undefined) return undefined
  if (executes.includes(sub)) return execute(call, rest.slice(1))
  if (explores.includes(sub)) {
    const mark = rest.findIndex(({ literal }) => literal === '--')
    const words = mark === -1 ? rest.slice(2) : rest.slice(mark + 1)
    if (words.length > 0) call.walk.run(words, { ...call.scope, via: [...call.scope.via, call.plain] }, call.at)
    return undefined
  }
  if (/^(config|c|set)$/.test(sub)) {
    const setting = rest.find(
      ({ literal }) =>
        literal === undefined ||
        /script-?shell|node-?options|^editor|^git\b|^shell\b|viewer|globalconfig|userconfig|^prefix/.test(literal),
    )
    if (setting !== undefined) return unclear(call, setting)
  }
  if (sub === 'pkg' && rest[1]?.literal !== 'get') {
    const field = rest.find(({ literal }) => literal === undefined || /^(scripts|bin)\b/.test(literal))
    if (field !== undefined) return unclear(call, field)
  }
  if (/^(run|run-script|rum|urn)$/.test(sub) && rest[1] !== undefined && rest[1].literal === undefined)
    return unclear(call, rest[1])
  // Words that are no command of theirs are scripts, or programs of packages.
  if (call.plain !== 'npm' && !ownWords.test(sub)) {
    if (!sub.includes('/') && !sub.includes('.'))
      call.walk.run(rest, { ...call.scope, vouched: true, via: [...call.scope.via, call.plain] }, call.at)
  }
  if (call.plain === 'yarn' || call.plain === 'bun') {
    if (sub === 'run' && rest.length > 1)
      call.walk.run(rest.slice(1), { ...call.scope, vouched: true, via: [...call.scope.via, call.plain] }, call.at)
  }
  return undefined
}

const ownWords =
  /^(install|i|add|remove|rm|uninstall|un|up|update|upgrade|link|unlink|init|create|run|run-script|test|t|start|stop|restart|build|pack|publish|why|list|ls|outdated|audit|info|view|config|cache|global|workspace|workspaces|version|login|logout|bin|root|store|prune|rebuild|patch|patch-commit|import|dedupe|fetch|deploy|setup|env|doctor|help|node|set|unset|plugin|constraints|npm|pm|dev|lint|ci|approve-builds|licenses|self-update|tag|owner|policies|check|autoclean|generate-lock-entry|exec|recursive|m)$/

const executeOptions: OptionTable = {
  flags: 'yq',
  valued: 'pwc',
  longFlags: [
    'yes',
    'no',
    'no-install',
    'quiet',
    'silent',
    'prefer-offline',
    'offline',
    'ignore-existing',
    'bun',
    'version',
    'help',
    'workspaces',
  ],
  longValued: ['package', 'workspace', 'registry', 'cache', 'from', 'with', 'python', 'call'],
}

/** `npx` and its like: the program of a package, or with `-c` a script. */
function execute(call: Call, args: readonly Argument[]): undefined {
  const { walk, scope, at } = call
  const via = [...scope.via, call.plain]
  const read = readOptions(args, executeOptions)
  if ('unclear' in read) return unclear(call, read.unclear)
  for (const { name, value, argument } of read.options) {
    if (name !== 'c' && name !== 'call') continue
    if (value === undefined) return unclear(call, argument)
    walk.source(value, { ...scope, dialect: 'sh', via, stdin: undefined, vouched: false }, argument.at)
  }
  const [first, ...more] = read.rest
  if (first === undefined) return undefined
  if (first.literal === undefined) return unclear(call, first)
  // A package may be named with its version or its place.
  const name = first.literal.replace(/(?<=.)@[^/]*$/, '').replace(/^.*\//, '')
  walk.run([{ ...first, literal: name, lead: name }, ...more], { ...scope, vouched: true, via, stdin: undefined }, at)
  return undefined
}

/** `poetry run COMMAND`. */
function afterWord(call: Call, words: readonly string[], table: OptionTable, operands = 0): undefined {
  const [first, ...rest] = call.args
  if (first === undefined) return undefined
  if (first.literal === undefined || /^-(?!-(version|help)$)/.test(first.literal)) return unclear(call, first)
  if (!words.includes(first.literal)) return undefined
  const read = readOptions(rest, table)
  if ('unclear' in read) return unclear(call, read.unclear)
  let inner = read.rest.slice(operands)
  // Tools may be named before the command: mise exec node@20 -- node.
  const mark = inner.findIndex(({ literal }) => literal === '--')
  if (mark !== -1) inner = inner.slice(mark + 1)
  if (inner.length > 0)
    call.walk.run(inner, { ...call.scope, vouched: true, via: [...call.scope.via, call.plain] }, call.at)
  return undefined
}

const makefiles = ['Makefile', 'makefile', 'GNUmakefile']

/** A file of rules is a script. */
function makefile(call: Call, file: Argument): void {
  if (file.literal === '-') unclear(call, file)
  else scriptFile(call, file)
}

function make(call: Call): undefined {
  const { walk, scope, args } = call
  for (const name of makefiles) walk.judge.runs(name, scope, call.at)
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as Argument
    const { literal } = argument
    const text = literal ?? argument.lead
    const equals = text.indexOf('=')
    if (literal === undefined && (argument.splits || equals === -1 || text.startsWith('-'))) {
      if (mayBeOption(argument) || argument.splits) return unclear(call, argument)
    } else if (/^(-C|--directory)$/.test(text) || /^(-C.+|--directory=.+)$/.test(text)) {
      const own = text.replace(/^(-C|--directory=?)/, '')
      const value = own === '' ? args[++i]?.literal : own
      if (value === undefined) return unclear(call, argument)
      walk.judge.access(value, 'read', scope, argument.at)
      for (const name of makefiles) walk.judge.runs(`${value}/${name}`, scope, argument.at)
    } else if (/^--(file|makefile)=/.test(text)) {
      makefile(call, literalArgument(text.slice(text.indexOf('=') + 1), argument.at))
    } else if (/^(-f|-I|-o|-W|--file|--makefile|--include-dir)$/.test(text)) {
      const value = args[++i]
      if (value?.literal === undefined) return unclear(call, value ?? argument)
      if (/^-f$|file$/.test(text)) makefile(call, value)
    } else if (text.startsWith('-')) {
      if (
        !/^-([bBdeiknpqrRsStvw]+|[jl]\d*|[bBiknrRsStw]*j\d*|O\w*)$|^--(jobs(=\d+)?|silent|quiet|always-make|keep-going|dry-run|just-print|recon|no-print-directory|print-directory|question|touch|version|help|ignore-errors|output-sync(=\w+)?|no-builtin-rules|no-builtin-variables|warn-undefined-variables|trace|debug(=\w+)?|load-average=\d+)$/.test(
          text,
        )
      )
        return unclear(call, argument)
    } else if (equals > 0) {
      const name = text.slice(0, equals).replace(/[:?+!]+$/, '')
      if (
        /^\.?SHELL(FLAGS)?$|^MAKE/.test(name) ||
        literal === undefined ||
        /[$`|;&<>\n]/.test(literal.slice(equals)) ||
        /!$/.test(text.slice(0, equals))
      ) {
        walk.judge.deny('VARIABLE_DENIED', `make: ${name} may start commands`, argument.at)
      }
    }
  }
  return undefined
}
