import { type LogicalPath, ROOT } from '../../paths/logical-path.ts'
import type { CommandPolicy } from '../../policy/schema.ts'
import {
  checkArgument,
  checkOptions,
  isFunction,
  isListOf,
  isOneOf,
  isText,
  type OptionTable,
  refuseSurplus,
  requireText,
  shape,
} from '../../util/check-options.ts'
import { type Analysis, createAnalysis, type Decide, type Unknowns } from './analysis.ts'
import { characterFault } from './characters.ts'
import { analyzeStartedWords } from './command.ts'
import { type CommandLists, compileLists, type RestrictedPrograms } from './command-lists.ts'
import { checkLaunches } from './possible-launches.ts'
import type { ScriptPlace } from './values.ts'
import type { CommandVerdict } from './verdict.ts'
import { analyzeSource } from './walk-script.ts'

export type { Decide, PackageScripts, ScriptFile, Unknowns } from './analysis.ts'
export { compilePrograms, type RestrictedPrograms } from './command-lists.ts'
export { wordLists } from './name-variants.ts'
export { spelledAs } from './option-spellings.ts'
export type { ScriptPlace } from './values.ts'
export type { CommandAccess, CommandVerdict, DenialReason, JudgedCommand, ReasonCode } from './verdict.ts'

/** Options of {@link analyzeCommand}. */
export interface AnalyzeOptions {
  /** Directory in which the line starts. Default: the root of the workspace. */
  readonly cwd?: LogicalPath
  /** Absolute path under which the shell shows the root of the workspace, such as `/workspace`. */
  readonly root?: string
  /** Shell that parses the line. For `sh`, syntax with another meaning in bash is refused. Default: `bash`. */
  readonly shell?: 'bash' | 'sh'
  /** What the line may leave open until it runs. Default: nothing. */
  readonly unknowns?: Unknowns
  /** Applies the rules of a policy to one command of the line. Every command must be allowed. */
  readonly decide?: Decide
}

/**
 * Evaluates a command line by its parsed structure, before anything runs. Every command that the line would start, also
 * through wrappers, launchers, substitutions and scripts in arguments, is checked against the built-in denylist, the
 * lists of the policy and `decide`. A command name or option that is only known at run time is refused, whatever the
 * lists allow. Words that are data are ignored. Pure and total; takes time linear in the length of the line.
 *
 * `accesses` lists the files that redirections open. They are inside the workspace; policy still has to evaluate them.
 * Other arguments are not read as paths: the shell guards the files that its commands really open.
 *
 * @throws TypeError if the policy's lists are not valid
 * @example
 * analyzeCommand('npm test && git push', { deny: ['git push'] }).decision // 'deny'
 * analyzeCommand("grep -rn 'sudo rm -rf /' docs", {}).decision // 'allow'
 */
export function analyzeCommand(line: string, policy: CommandPolicy, requested?: AnalyzeOptions): CommandVerdict {
  refuseSurplus('analyzeCommand()', 3, arguments)
  requireText('analyzeCommand()', 'line', line)
  return analyzeText(line, policy, checkOptions<AnalyzeOptions>('analyzeCommand()', requested, analyzeTable)).verdict()
}

/** Options of {@link analyzeText}. */
export interface TextOptions extends AnalyzeOptions {
  /** The caller evaluates the files in `scripts()`, so that a line may also run one with `source`. Default: false. */
  readonly judgesScripts?: boolean
  /**
   * The text is a file that a line runs: the shell bounds its recursion and its paths, as it does in any program, and its
   * functions need no entry in an allowlist. Default: false.
   */
  readonly isScript?: boolean
  /** The shell of another script runs the text, so both may set the same variables. Default: false. */
  readonly isEval?: boolean
  /** Whether the policy restricts a program with certain arguments only. Default: no program. */
  readonly restrictsArguments?: (name: string) => boolean
  /** The programs that the policy denies or asks about, with any arguments. Default: those that the list denies. */
  readonly restricted?: RestrictedPrograms
  /** The file that contains the text. */
  readonly place?: ScriptPlace | undefined
}

/** Analyzes a line, or a file that a line runs, as {@link analyzeCommand} does. */
export function analyzeText(
  text: string,
  policy: CommandPolicy,
  {
    cwd = ROOT,
    root,
    shell = 'bash',
    unknowns,
    decide,
    judgesScripts,
    isScript,
    isEval = false,
    place,
    restrictsArguments,
    restricted,
  }: TextOptions,
): Pick<Analysis, 'verdict' | 'scripts'> {
  const analysis = createAnalysis(listsOf(policy), root, decide, {
    unknowns,
    ...(judgesScripts === undefined ? {} : { judgesScripts }),
    ...(isScript === undefined ? {} : { isScript }),
    place,
    restrictsArguments,
    restricted,
  })
  const fault = characterFault(text)
  if (fault !== undefined) {
    analysis.deny(fault.code, fault.message, fault.at)
    return analysis
  }
  const scope = { dialect: shell, cwds: [cwd], via: [], enclosingFunctions: [], isEval } as const
  try {
    analyzeSource(analysis, text, scope, [0, text.length])
    checkLaunches(analysis)
  } catch (error) {
    // The recursion of the parser and the walk follows the nesting of the line; `addCommand` throws the same error.
    if (!(error instanceof RangeError)) throw error
    analysis.deny('TOO_COMPLEX', 'The line has more than 1000 commands, or is nested too deeply', [0, text.length])
  }
  return analysis
}

/** A command that a line has started, at any depth. */
export interface StartedCommand {
  /** The name and the arguments, as the command receives them. */
  readonly words: readonly string[]
  /** A function of the script: its commands are evaluated when they start. */
  readonly isFunction: boolean
  /** Another command starts it, such as a shell or xargs, and not the line or a file that it sources. */
  readonly isNested: boolean
  /** Absolute path under which the shell shows the root of the workspace. */
  readonly root: string
  /** Directory of the command; left out if it is not in the workspace. */
  readonly cwd?: LogicalPath | undefined
}

/**
 * Evaluates a command when it starts, as {@link analyzeCommand} evaluates the commands of a line: by the built-in denylist, the
 * lists of the policy and `decide`.
 */
export function analyzeStartedCommand(
  { words, isFunction, root, cwd }: Omit<StartedCommand, 'isNested'>,
  policy: CommandPolicy,
  decide: Decide,
): CommandVerdict {
  const analysis = createAnalysis(listsOf(policy), root, decide, { unknowns: 'words' })
  const cwds = cwd === undefined ? undefined : [cwd]
  analyzeStartedWords(analysis, words, { dialect: 'bash', cwds, via: [], enclosingFunctions: [] }, isFunction)
  return analysis.verdict()
}

const analyzeTable: OptionTable<AnalyzeOptions> = {
  cwd: isText,
  root: isText,
  shell: isOneOf('bash', 'sh'),
  decide: isFunction,
  unknowns: isOneOf('nothing', 'paths', 'words'),
}
const isCommandPolicy = shape<CommandPolicy>({
  allow: isListOf(isText),
  deny: isListOf(isText),
  deniedOperators: isListOf(isText),
})

const compiled = new WeakMap<CommandPolicy, CommandLists>()

function listsOf(policy: CommandPolicy): CommandLists {
  const cached = compiled.get(policy)
  if (cached !== undefined) return cached
  const lists = compileLists(checkArgument('analyzeCommand()', 'policy', policy, isCommandPolicy))
  compiled.set(policy, lists)
  return lists
}
