import { childOf, type LogicalPath, parentOf, ROOT } from '../../paths/logical-path.ts'
import type { Scope } from './analysis.ts'
import { aliases, type Call, type Inspectors, refuseAlways, refuseOptions, refuseUnclear } from './inspector.ts'
import { checkScriptFile } from './launchers.ts'
import { inspectMake } from './make.ts'
import { nameVariants } from './name-variants.ts'
import { npmCommands } from './npm-commands.ts'
import { type OptionTable, readOptions } from './options.ts'
import { type Argument, knownText, literalArgument, mayBeOption } from './words.ts'
import { skipAssignments } from './wrappers.ts'

/** Package managers and task runners that start commands from their arguments. */
export const packageManagers: Inspectors = {
  npm: { inspect: (call) => inspectManager(call, ['exec', 'x']) },
  pnpm: { inspect: (call) => inspectManager(call, ['exec', 'dlx']) },
  yarn: { inspect: (call) => inspectManager(call, ['exec', 'dlx']) },
  bun: { inspect: (call) => inspectManager(call, ['x']) },
  ...aliases('npx pnpx bunx pnpm-exec', { inspect: (call) => execute(call, call.args) }),
  uv: {
    inspect: (call) =>
      inspectSubcommand(withoutGroup(call, 'tool'), ['run', 'x'], {
        flags: 'q',
        longFlags: ['quiet', 'frozen', 'locked', 'no-sync', 'dev', 'all-extras', 'isolated', 'no-project'],
        longValued: ['with', 'python', 'extra', 'group', 'directory', 'project', 'package'],
        valued: 'p',
      }),
  },
  ...aliases('poetry pipenv pdm rye hatch conda mamba micromamba', {
    inspect: (call) =>
      inspectSubcommand(withoutGroup(call, 'env'), ['run'], {
        flags: 'q',
        longFlags: ['no-capture-output', 'live-stream'],
        longValued: ['name', 'prefix'],
        valued: 'np',
      }),
  }),
  ...aliases('uvx pipx', {
    inspect: (call) =>
      call.plain === 'uvx' ? execute(call, call.args) : inspectSubcommand(call, ['run'], { flags: '' }),
  }),
  ...aliases('bundle rbenv pyenv nodenv asdf mise nodebrew volta fnm', {
    inspect: (call) => inspectSubcommand(call, ['exec', 'run', 'x'], { flags: '', longValued: ['node', 'using'] }),
  }),
  rustup: { inspect: (call) => inspectSubcommand(call, ['run'], { flags: '', longFlags: ['install'] }, 1) },
  direnv: { inspect: (call) => inspectSubcommand(call, ['exec'], { flags: '' }, 1) },
  'nix-shell': refuseAlways('the command that it starts cannot be determined from its options'),
  ...aliases('nix guix devbox flox', {
    inspect: (call) => refuseOptions(call, /^(--run|--command|-c|--|shell|develop|environment|repl|run|exec)$/),
  }),
  deno: { inspect: inspectDeno },
  ...aliases('make gmake bmake pmake remake', { inspect: inspectMake }),
  ...aliases('just task mage rake invoke', {
    inspect: (call) =>
      refuseOptions(
        call,
        /^(--shell|--shell-arg|--command|-c|--choose|--chooser|-e|--edit|--execute|-E|-p|--execute-print|--execute-continue|--rakelib|-r|-f[^:\n]*:.*)$/,
      ),
  }),
  cmake: {
    inspect(call) {
      const [first, second, ...commandWords] = call.args
      if (first?.literal !== '-E') return undefined
      if (second?.literal === undefined) return refuseUnclear(call, second ?? first)
      if (/^(env|time|chdir)$/.test(second.literal)) {
        const words =
          second.literal === 'env'
            ? skipAssignments(call, commandWords)
            : second.literal === 'chdir'
              ? commandWords.slice(1)
              : commandWords
        if (words !== undefined && words.length > 0)
          call.walk.run(words, { ...call.scope, via: [...call.scope.via, 'cmake'] }, call.at)
      }
      return undefined
    },
  },
  ...aliases('snap flatpak', refuseAlways('it acts on the system')),
}

const shellOptions =
  'script-shell node-options shell git editor viewer globalconfig userconfig shell-emulator call c shell-mode script-prepend-node-path ignore-path pnpmfile use-yarnrc use-node-version onload-script preload require'.split(
    ' ',
  )

/** Options that control how scripts are started, also as abbreviations that npm accepts. */
function isShellOption(word: string): boolean {
  const name = /^--?([\w-]+)(=|$)/.exec(word)?.[1]
  if (name === undefined || name === 'global' || name === 'no') return false
  return shellOptions.some((option) => option === name || (name.length > 1 && option.startsWith(name)))
}

const npmValued = /^(-C|--prefix|-w|--workspace|--registry|--loglevel)$/
const valued = /^(-C|--prefix|--dir|--cwd|--filter|-F|--registry|--loglevel)$/

/** Options before the subcommand that take no value. */
const npmFlags = /^(-[adfghlnpqsvyBDEOPS]|-d+|-ws|-iwr)$/
const flags = /^-[abdfghlqrsvwyDEOP]$/
const bunFlags = /^-[bhv]$/
const longFlags =
  /^--(no-[\w-]+|silent|quiet|verbose|yes|global|force|offline|prefer-offline|prefer-online|json|long|workspaces|include-workspace-root|if-present|ignore-scripts|version|versions|help|save|save-dev|save-exact|save-optional|save-peer|save-prod|production|dry-run|legacy-peer-deps|foreground-scripts|parseable|progress|timing|color|recursive|workspace-root|parallel|stream|bail|aggregate-output|frozen-lockfile|prod|dev|hot|watch|bun|smol|non-interactive)$/

/** Whether an option may take the next word as its value, so that the word is not the subcommand. */
function mayTake(plain: string, option: string, next: string): boolean {
  if (option.includes('=') || next === '' || next.startsWith('-')) return false
  const isFlag =
    longFlags.test(option) || (plain === 'npm' ? npmFlags : plain === 'bun' ? bunFlags : flags).test(option)
  return !isFlag || /^(true|false|null|always)$/.test(next)
}

/** Returns the subcommand and its words without the options before it, or `undefined` if a word is refused. */
function readCommandWords(call: Call, executes: readonly string[]): readonly Argument[] | undefined {
  const { args } = call
  const commandWords: Argument[] = []
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as Argument
    const { literal } = argument
    const executing = executes.includes(subcommandsOf(call, knownText(commandWords[0]))[0] ?? '')
    if (literal === undefined) {
      if (commandWords.length === 0) return refuseUnclear(call, argument)
      // After the name of a script, npm still reads options.
      if (mayBeOption(argument) && (argument.splits || call.plain === 'npm')) return refuseUnclear(call, argument)
    } else if (literal === '--' && commandWords.length > 0) {
      // The remaining words are arguments of the script or the program.
      commandWords.push(...args.slice(executing ? i : i + 1))
      break
    } else if (commandWords.length === 0 && literal.startsWith('-')) {
      if (isShellOption(literal)) return refuseUnclear(call, argument)
      if (call.plain === 'bun' && /^(-[epi]|--eval|--print)/.test(literal)) return refuseUnclear(call, argument)
      if ((call.plain === 'npm' ? npmValued : valued).test(literal)) {
        const value = args[++i]
        if (value?.literal === undefined) return refuseUnclear(call, value ?? argument)
      } else if (!/^--?[\w-]+(=[\w.:/@-]*)?$/.test(literal) || mayTake(call.plain, literal, knownText(args[i + 1])))
        return refuseUnclear(call, argument)
      continue
    } else if (isShellOption(literal) && literal !== '-c') {
      // After the name of a program, only npm still reads its own options.
      if (!executing || (call.plain === 'npm' && !/^--call(=|$)/.test(literal))) return refuseUnclear(call, argument)
    }
    commandWords.push(argument)
  }
  for (const [index, argument] of args.entries()) {
    const directory = /^(?:-C|--prefix|--dir|--cwd)(?:=(.*))?$/.exec(knownText(argument))
    if (directory === null || args.slice(0, index).some(({ literal }) => literal === '--')) continue
    const value = directory[1] ?? args[index + 1]?.literal
    if (value === undefined) return refuseUnclear(call, argument)
    call.walk.analysis.addAccess(value, 'read', call.scope, argument.at)
  }
  return commandWords
}

function inspectManager(call: Call, executes: readonly string[]): undefined {
  const commandWords = readCommandWords(call, executes)
  if (commandWords === undefined) return undefined
  call.walk.analysis.addExecuted('package.json', call.scope, call.at)
  const [first] = commandWords
  if (first?.literal === undefined) return undefined
  const [sub = first.literal, ...others] = subcommandsOf(call, first.literal)
  // Which command it abbreviates depends on the version of npm.
  if (others.length > 0) return refuseUnclear(call, first)
  addPackageScripts(call, sub, commandWords.slice(1))
  if (executes.includes(sub)) return execute(call, commandWords.slice(1))
  const selected = skipPackageSelection(call.plain, sub, commandWords)
  if (selected !== undefined) return inspectManager({ ...call, args: selected }, executes)
  if (call.plain === 'bun' && /^(exec|repl)$/.test(sub)) {
    call.walk.analysis.deny('INLINE_CODE', 'Code for bun is not analyzed', call.at)
    return undefined
  }
  if (sub === 'explore') {
    const words = commandWords.slice(2)
    if (words.length > 0) call.walk.run(words, { ...call.scope, via: [...call.scope.via, call.plain] }, call.at)
    return undefined
  }
  if (/^(config|c|set)$/.test(sub)) {
    const setting = commandWords.find(
      ({ literal }) =>
        literal === undefined ||
        /script-?shell|node-?options|^editor|^git\b|^shell\b|viewer|globalconfig|userconfig|^prefix/.test(literal),
    )
    if (setting !== undefined) return refuseUnclear(call, setting)
  }
  if (sub === 'pkg' && commandWords[1]?.literal !== 'get') {
    const field = commandWords.find(({ literal }) => literal === undefined || /^(scripts|bin)\b/.test(literal))
    if (field !== undefined) return refuseUnclear(call, field)
  }
  if (/^(run|run-script|rum|urn)$/.test(sub) && commandWords[1] !== undefined && commandWords[1].literal === undefined)
    return refuseUnclear(call, commandWords[1])
  // A word that is not a subcommand is a script, or a program of a package.
  if (call.plain !== 'npm' && !ownWords.test(sub)) {
    if (sub.includes('/') || (call.plain === 'bun' && sub.includes('.')))
      checkScriptFile(call, commandWords[0] as Argument)
    else call.walk.run(commandWords, innerScope(call, commandWords[0], call.plain === 'yarn'), call.at)
  }
  if (call.plain === 'yarn' || call.plain === 'bun') {
    if (sub === 'run' && commandWords.length > 1)
      call.walk.run(commandWords.slice(1), innerScope(call, commandWords[1], call.plain === 'yarn'), call.at)
  }
  // An initializer is a package that is run: npm init foo runs create-foo.
  if (INITIALIZE.test(sub)) {
    const initializer = commandWords.slice(1).find((word) => !knownText(word).startsWith('-'))
    if (initializer !== undefined && initializer.literal === undefined) return refuseUnclear(call, initializer)
    const name = `create-${knownText(initializer)
      .replace(/(?<=.)@.*/s, '')
      .replace(/^.*\//s, '')}`
    if (initializer !== undefined)
      call.walk.run([literalArgument(name, initializer.at)], innerScope(call, initializer), call.at)
  }
  return undefined
}

/** Returns the subcommands for which a word may stand, without their aliases. */
function subcommandsOf({ plain }: Call, word: string): readonly string[] {
  return plain === 'npm' ? npmCommands(word) : [word]
}

/** Adds the scripts of package.json that a subcommand runs, in the directory and in those above it. */
function addPackageScripts(call: Call, sub: string, words: readonly Argument[]): void {
  const { walk, scope, at } = call
  const runs = /^(run|run-script|rum|urn)$/.test(sub)
  const steps = lifecycles.get(sub)
  if (scope.cwds === undefined && walk.analysis.judgesScripts && (runs || steps !== undefined || mayRun(call, sub)))
    walk.analysis.deny('CWD_UNKNOWN', 'The location of package.json is only known at run time', at)
  for (const operands of scriptOperands(call, words, runs)) {
    const [first, ...args] = [...(runs ? [] : [sub]), ...operands.map(({ literal }) => literal ?? null)]
    const names = runs ? [first ?? '', ...(first === 'restart' ? RESTART : [])] : [sub, ...(steps ?? [])]
    const scripts = {
      names: names.flatMap((step) => [`pre${step}`, step, `post${step}`]),
      args: steps === undefined || PASSING.test(sub) ? args : [],
    }
    // The search for package.json goes up from the directory itself, not from the name of a link to it.
    walk.analysis.addLeft('..', scope)
    for (const cwd of scope.cwds ?? [ROOT]) {
      for (let directory: LogicalPath = cwd; ; directory = parentOf(directory)) {
        walk.analysis.addScript(childOf(directory, 'package.json'), 'package', { ...scope, cwds: [ROOT] }, { scripts })
        if (directory === ROOT) break
      }
    }
  }
}

/** Whether a subcommand runs a script of its own name, or may do so. */
function mayRun({ plain }: Call, sub: string): boolean {
  return /^(test|start|stop|version)$/.test(sub) || (plain !== 'npm' && !ownWords.test(sub))
}

/**
 * Returns the name and the arguments of a script without the options of the manager. There are two possible results if an
 * option may take the word after it as its value.
 */
function scriptOperands(call: Call, words: readonly Argument[], runs: boolean): readonly (readonly Argument[])[] {
  const { plain, args } = call
  const end = args.findIndex(({ literal }) => literal === '--')
  const passed = new Set(end === -1 ? [] : args.slice(end + 1))
  const operands: Argument[] = []
  const values = new Set<Argument>()
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as Argument
    const next = words[i + 1]
    const isOperand = passed.has(word) || word.literal?.startsWith('-') !== true
    // Only npm reads options after the name of the script.
    if (isOperand || (plain !== 'npm' && (operands.length > 0 || !runs))) operands.push(word)
    else if ((plain === 'npm' ? npmValued : valued).test(word.literal ?? '')) i += 1
    else if (next !== undefined && !passed.has(next) && mayTake(plain, word.literal ?? '', knownText(next))) {
      values.add(next)
      if (values.size > 1 || (runs && operands.length === 0)) {
        refuseUnclear(call, word)
        return []
      }
    }
  }
  return values.size === 0 ? [operands] : [operands, operands.filter((word) => !values.has(word))]
}

/** The scripts that subcommands run, apart from the one of their own name. */
const lifecycles = new Map<string, readonly string[]>()
for (const [subs, steps] of [
  ['install i add ci clean-install rebuild rb link ln', 'install prepublish prepare dependencies'],
  ['install-test it install-ci-test', 'install prepublish prepare dependencies test'],
  ['pack publish', 'pack prepublishOnly prepublish prepare'],
  ['update uninstall dedupe prune audit', 'dependencies'],
  ['restart', 'stop start'],
  ['t tst', 'test'],
] as const)
  for (const sub of subs.split(' ')) lifecycles.set(sub, steps.split(' '))

/** Subcommands with other scripts that pass their arguments to them. */
const PASSING = /^(restart|t|tst)$/
const RESTART = ['stop', 'start']

const INITIALIZE = /^(init|create)$/

/**
 * Returns the scope of a command that a package manager starts. An allowlist must name the command: by itself, or together
 * with its launcher, as `npx vitest` does. Yarn starts only scripts and programs of the project by name, as `npm run` does.
 */
function innerScope(call: Call, command: Argument | undefined, isScript = false): Scope {
  return {
    ...call.scope,
    skipAllowlist: isScript || isNamedWithLauncher(call, command),
    via: [...call.scope.via, call.plain],
    stdin: undefined,
  }
}

/** Whether an allowlist matches the call, but not with another command in its place. */
function isNamedWithLauncher({ walk, name, plain, args }: Call, command: Argument | undefined): boolean {
  const isAllowed = (words: readonly (string | null)[]) => {
    const text = [name, ...words.map((word, index) => word ?? args[index]?.raw ?? '')].join(' ')
    return walk.analysis.lists.isAllowed(nameVariants(name, plain, words, text).allowed)
  }
  const words = args.map(({ literal }) => literal ?? null)
  return (
    isAllowed(words) && !isAllowed(words.map((word, index) => (args[index] === command ? 'another-command' : word)))
  )
}

/** Returns the words after those that only select packages of the workspace. */
function skipPackageSelection(
  plain: string,
  sub: string,
  commandWords: readonly Argument[],
): readonly Argument[] | undefined {
  if (plain === 'pnpm' && /^(recursive|multi|m)$/.test(sub)) return commandWords.slice(1)
  if (plain !== 'yarn') return undefined
  if (sub === 'workspace') return commandWords.slice(2)
  if (sub !== 'workspaces') return undefined
  if (knownText(commandWords[1]) !== 'foreach') return commandWords.slice(1)
  const words = commandWords.slice(2)
  while (foreachFlags.test(knownText(words[0]))) words.shift()
  return words
}

const foreachFlags =
  /^(-[ARWiptv]+|--(all|recursive|worktree|parallel|interlaced|topological|topological-dev|verbose|no-private))$/

const ownWords =
  /^(install|i|add|remove|rm|uninstall|un|up|update|upgrade|link|unlink|init|create|run|run-script|test|t|start|stop|restart|build|pack|publish|why|list|ls|outdated|audit|info|view|config|cache|global|version|login|logout|bin|root|store|prune|rebuild|patch|patch-commit|import|dedupe|fetch|deploy|setup|env|doctor|help|set|unset|plugin|constraints|npm|pm|dev|lint|ci|approve-builds|licenses|self-update|tag|owner|policies|check|autoclean|generate-lock-entry|exec)$/

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

/** Analyzes `npx` and similar commands: the program of a package, or a script with `-c`. */
function execute(call: Call, args: readonly Argument[]): undefined {
  const { walk, scope, at } = call
  const via = [...scope.via, call.plain]
  const read = readOptions(args, executeOptions)
  if ('unclear' in read) return refuseUnclear(call, read.unclear)
  for (const { name, value, argument } of read.options) {
    if (name !== 'c' && name !== 'call') continue
    if (value === undefined) return refuseUnclear(call, argument)
    walk.source(value, { ...scope, dialect: 'sh', via, stdin: undefined, skipAllowlist: false }, argument.at)
  }
  const [first, ...more] = read.operands
  if (first === undefined) return undefined
  if (first.literal === undefined) return refuseUnclear(call, first)
  // The name of a package may include its version or its location.
  const name = first.literal.slice(first.literal.lastIndexOf('/') + 1).replace(/(?<=.)@.*/s, '')
  walk.run([{ ...first, literal: name, lead: name }, ...more], innerScope(call, first), at)
  return undefined
}

/** Analyzes the command after a subcommand, as in `poetry run COMMAND`. */
function inspectSubcommand(call: Call, words: readonly string[], table: OptionTable, operands = 0): undefined {
  const [first, ...commandWords] = call.args
  if (first === undefined) return undefined
  if (first.literal === undefined || /^-(?!-(version|help)$)/.test(first.literal)) return refuseUnclear(call, first)
  if (!words.includes(first.literal)) return undefined
  const read = readOptions(commandWords, table)
  if ('unclear' in read) return refuseUnclear(call, read.unclear)
  let inner = read.operands.slice(operands)
  // Tools may be named before the command: mise exec node@20 -- node.
  const mark = inner.findIndex(({ literal }) => literal === '--')
  const script = call.plain === 'mise' ? inner.slice(0, mark === -1 ? inner.length : mark).find(mayBeOption) : undefined
  if (script !== undefined) return refuseUnclear(call, script)
  inner = inner.slice(mark + 1)
  // The environment may precede the command: hatch run test:cov.
  const [operand] = inner
  if (call.plain === 'hatch') inner = inner.map((word, index) => (index === 0 ? withoutEnvironment(word) : word))
  const [command] = inner
  if (command === undefined) return undefined
  if (/^https?:/.test(knownText(command))) return refuseUnclear(call, command)
  call.walk.run(inner, innerScope(call, operand), call.at)
  return undefined
}

/** Returns the call without a first word that only groups subcommands: `uv tool run`. */
function withoutGroup(call: Call, group: string): Call {
  return call.args[0]?.literal === group ? { ...call, args: call.args.slice(1) } : call
}

function withoutEnvironment(word: Argument): Argument {
  return word.literal === undefined ? word : literalArgument(word.literal.slice(word.literal.indexOf(':') + 1), word.at)
}

/** Inspects deno. Refuses inline and remote code; the words after a file are arguments of the program. */
function inspectDeno(call: Call): undefined {
  const { args } = call
  const [first] = args
  if (first === undefined || /^(eval|repl)$/.test(knownText(first))) {
    call.walk.analysis.deny('INLINE_CODE', 'Code for deno is not analyzed', call.at)
    return undefined
  }
  if (/^-(?!-(version|help)$|[Vh]$)/.test(knownText(first))) return refuseUnclear(call, first)
  const program = args.findIndex((word) => /^[^-].*\.[cm]?[jt]sx?$/.test(knownText(word)))
  const file = args[program]
  if (file !== undefined && !/^\w+:/.test(knownText(file))) checkScriptFile(call, file)
  const denoArgs = file === undefined ? args : args.slice(0, program + 1)
  return refuseOptions({ ...call, args: denoArgs }, /^(-|--eval|(data|https?|blob):.*)$/)
}
