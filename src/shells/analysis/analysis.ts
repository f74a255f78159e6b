import type { ParsedScript } from 'unbash'
import { type LogicalPath, ROOT } from '../../paths/logical-path.ts'
import type { Operator } from '../../policy/command-operators.ts'
import type { Decision } from '../../policy/types.ts'
import type { CertainNames } from './certain-names.ts'
import type { CommandLists, RestrictedPrograms } from './command-lists.ts'
import { type CwdAfter, type PossibleCwds, resolvePath } from './cwd.ts'
import type { Place } from './denylist.ts'
import type { ScriptFacts } from './script-facts.ts'
import type { ScriptPlace, ScriptValues } from './values.ts'
import type { CommandAccess, CommandVerdict, DenialReason, JudgedCommand, ReasonCode, TextRange } from './verdict.ts'
import type { Argument } from './words.ts'

/** The context in which a part of the line is analyzed. */
export interface Scope {
  /** In `sh`, syntax that has another meaning in bash is refused. */
  readonly dialect: 'bash' | 'sh'
  readonly cwds: PossibleCwds
  /** Position to report for everything in a script that is an argument. */
  readonly at?: TextRange
  readonly via: readonly string[]
  /** The inner command of a launcher that names it in full, so that only the launcher must be on the allowlist. */
  readonly skipAllowlist?: boolean
  /** Text of a literal here-document or here-string on standard input. */
  readonly stdin?: string | undefined
  /** Literal texts that earlier commands of a pipeline print. */
  readonly piped?: readonly string[]
  /** What is certain at this point, in a script that receives variables from elsewhere. */
  readonly certain?: CertainNames
  /** Names of the functions whose bodies contain this part. */
  readonly enclosingFunctions: readonly string[]
  /** Inside an expansion, a test or arithmetic, where unquoted text may contain the characters of operators. */
  readonly isLoose?: boolean
  /** Inside double quotes, a here-document or arithmetic, where shells differ on the quotes in an expansion. */
  readonly isQuoted?: boolean
  /** A script that `eval` or `trap` runs in the shell of another script, which may set the same variables. */
  readonly isEval?: boolean
  /** The position of a pattern, where extended globs have the same meaning in every shell. */
  readonly isPattern?: boolean
}

/** A file whose commands a line runs. */
export interface ScriptFile {
  readonly path: LogicalPath
  /**
   * `program`: its first line names what runs it. `perl`: perl runs it, unless its first line names another program. `operand`: a
   * program that is not known receives its path, and may run it. `package`: a package.json, of which scripts are run.
   */
  readonly kind: 'bash' | 'sh' | 'program' | 'perl' | 'operand' | 'package'
  /** Directory in which it runs; the root if that is only known at run time. */
  readonly cwd: LogicalPath
  /** The shell of another script runs it, so both may set the same variables. */
  readonly isSourced?: boolean
  readonly scripts?: PackageScripts
  /**
   * The directories out of which `..` leads in the line or script that runs the file. A link among them leads elsewhere than
   * the text of the path says.
   */
  readonly left?: readonly LogicalPath[]
}

interface Setting {
  readonly value: string
  readonly at: TextRange
}

/** A program that the analysis does not know, as a line starts it. */
export interface Program {
  readonly walk: WalkContext
  readonly name: string
  readonly args: readonly Argument[]
  readonly scope: Scope
  readonly at: TextRange
}

type ScriptDetails = Pick<ScriptFile, 'isSourced' | 'scripts'>

/** Scripts of a package by their names, and the arguments for them. */
export interface PackageScripts {
  readonly names: readonly string[]
  /** `null` for a word that is only known at run time. */
  readonly args: readonly (string | null)[]
}

/** Collects the findings of one line. */
export interface Analysis {
  readonly lists: CommandLists
  readonly root: string | undefined
  readonly unknowns: Unknowns
  readonly deny: (code: ReasonCode, message: string, at: TextRange) => void
  readonly checkOperator: (operator: Operator, at: TextRange) => void
  readonly hasDenied: (operator: Operator) => boolean
  /** Adds a command that the line would start. @throws RangeError if there are too many */
  readonly addCommand: (command: JudgedCommand) => void
  /** Returns the number of commands that were added. */
  readonly commandCount: () => number
  /** Applies the rules to other spellings of a command that was added before. */
  readonly applyRules: (command: JudgedCommand) => void
  /** Adds a file that the line opens. Denies a path outside the workspace. */
  readonly addAccess: (path: string, mode: 'read' | 'write', scope: Scope, at: TextRange) => void
  /** Adds a file that the line runs as a program or a script. */
  readonly addExecuted: (path: string, scope: Scope, at: TextRange) => void
  /** Adds a file whose commands the line runs. */
  readonly addScript: (path: string, kind: ScriptFile['kind'], scope: Scope, details?: ScriptDetails) => void
  /** Adds the directories out of which the `..` of a path lead. */
  readonly addLeft: (path: string, scope: Pick<Scope, 'cwds'>) => void
  /** Whether the caller evaluates the files whose commands the line runs. */
  readonly judgesScripts: boolean
  /**
   * Whether the text is a file that a line runs. The shell bounds its recursion and its paths, as it does in any program, and
   * its functions need no entry in an allowlist.
   */
  readonly isScript: boolean
  /** Whether the policy restricts a program with certain arguments only. */
  readonly restrictsArguments: (name: string) => boolean
  /** The programs that the policy denies or asks about, with any arguments. */
  readonly restricted: RestrictedPrograms
  /** The values of variables that programs may read. */
  readonly settings: Setting[]
  /** The programs of the line that the analysis does not know. */
  readonly programs: Program[]
  /** Whether something denies the line so far. */
  readonly isDenied: () => boolean
  /** The file whose text is analyzed. */
  readonly place: ScriptPlace | undefined
  /**
   * Runs a part of the analysis. If it denies the line, undoes everything that it added, and returns undefined.
   */
  readonly attempt: <T>(run: () => T) => T | undefined
  /** Adds a file that a command may write, because an argument names it. */
  readonly addWritten: (path: string, scope: Scope) => void
  /** Returns where a command would run. */
  readonly placeOf: (scope: Scope) => Place
  /** Takes the characters of a nested script from the parse budget of the line. Returns false once it is used up. */
  readonly spend: (units: number) => boolean
  readonly verdict: () => CommandVerdict
  /** Returns the files whose commands the line runs. */
  readonly scripts: () => readonly ScriptFile[]
}

/**
 * What a line may leave open until it runs. `nothing`; `paths`: the files and directories that its commands open or change,
 * because policy evaluates each of them then; `words`: also words that may become options of a tool or an interpreter, because no
 * rule depends on what it starts.
 */
export type Unknowns = 'nothing' | 'paths' | 'words'

/** Returns the decision of the rules on one command. */
export type Decide = (command: JudgedCommand) => { readonly decision: Decision; readonly reason: string }

/** State shared by the walk through one script. */
export interface WalkContext {
  readonly analysis: Analysis
  readonly facts: ScriptFacts
  /** The values of the variables, in a script file. */
  readonly values: ScriptValues | undefined
  /** Functions whose definition has been analyzed. */
  readonly defined: Set<string>
  /** Analyzes the script of a substitution. Its directory changes end with it. */
  readonly nested: (script: ParsedScript | undefined, scope: Scope, at: TextRange) => void
  /** Analyzes a script in an argument, such as that of `sh -c` or `eval`. */
  readonly source: (text: string, scope: Scope, at: TextRange) => CwdAfter
  /** Analyzes the words of a command that another one starts. */
  readonly run: (words: readonly Argument[], scope: Scope, at: TextRange) => CwdAfter
}

/** Returns the position of a node in the line. */
export function rangeOf(node: { readonly pos: number; readonly end: number }, scope: Scope): TextRange {
  return scope.at ?? [node.pos, node.end]
}

const MAX_REASONS = 100
const MAX_COMMANDS = 1000
const MAX_SCRIPTS = 100
/** Characters of all nested scripts of a line. Each level of `eval` parses the inner ones again. */
const PARSE_BUDGET = 65_536

/** Creates the analysis of one line. */
export function createAnalysis(
  lists: CommandLists,
  root: string | undefined,
  decide: Decide | undefined,
  settings: Settings = {},
): Analysis {
  return new LineAnalysis(lists, root, decide, settings)
}

type Settings = {
  readonly unknowns?: Unknowns | undefined
  readonly place?: ScriptPlace | undefined
  readonly restrictsArguments?: ((name: string) => boolean) | undefined
  readonly restricted?: RestrictedPrograms | undefined
} & Partial<Pick<Analysis, 'judgesScripts' | 'isScript'>>

class LineAnalysis implements Analysis {
  readonly lists: CommandLists
  readonly root: string | undefined
  readonly unknowns: Unknowns
  readonly judgesScripts: boolean
  readonly isScript: boolean
  readonly place: ScriptPlace | undefined
  readonly restrictsArguments: (name: string) => boolean
  readonly restricted: RestrictedPrograms
  readonly settings: Setting[] = []
  readonly programs: Program[] = []
  readonly #decide: Decide | undefined
  #denials: DenialReason[] = []
  #deniedOperators = new Set<Operator>()
  #questions: DenialReason[] = []
  #commands: JudgedCommand[] = []
  readonly #left = new Set<LogicalPath>()
  #scripts = new Map<string, ScriptFile>()
  #accesses = new Map<string, CommandAccess>()
  #executed = new Map<LogicalPath, TextRange>()
  #written = new Set<LogicalPath>()
  /** A path that only the run shows, and which may be that of a script that the line runs. */
  #unknownPath: DenialReason | undefined
  #runsUnknown = false
  #budget = PARSE_BUDGET

  constructor(
    lists: CommandLists,
    root: string | undefined,
    decide: Decide | undefined,
    {
      unknowns = 'nothing',
      judgesScripts = false,
      isScript = false,
      place,
      restrictsArguments = () => false,
      restricted = lists.denied,
    }: Settings,
  ) {
    this.unknowns = unknowns
    this.judgesScripts = judgesScripts
    this.isScript = isScript
    this.place = place
    this.restrictsArguments = restrictsArguments
    this.restricted = restricted
    this.lists = lists
    this.root = root
    this.#decide = decide
  }

  deny(code: ReasonCode, message: string, at: TextRange): void {
    const reason: DenialReason = { code, action: 'deny', message, at }
    if ((code === 'TARGET_NOT_LITERAL' || code === 'CWD_UNKNOWN') && this.unknowns !== 'nothing') {
      this.#unknownPath ??= reason
    } else addReason(this.#denials, reason)
  }

  isDenied(): boolean {
    return this.#denials.length > 0
  }

  attempt<T>(run: () => T): T | undefined {
    const before = {
      denials: [...this.#denials],
      deniedOperators: new Set(this.#deniedOperators),
      questions: [...this.#questions],
      commands: [...this.#commands],
      scripts: new Map(this.#scripts),
      accesses: new Map(this.#accesses),
      executed: new Map(this.#executed),
      written: new Set(this.#written),
      unknownPath: this.#unknownPath,
      runsUnknown: this.#runsUnknown,
      budget: this.#budget,
    }
    const result = run()
    if (this.#denials.length === before.denials.length) return result
    this.#denials = before.denials
    this.#deniedOperators = before.deniedOperators
    this.#questions = before.questions
    this.#commands = before.commands
    this.#scripts = before.scripts
    this.#accesses = before.accesses
    this.#executed = before.executed
    this.#written = before.written
    this.#unknownPath = before.unknownPath
    this.#runsUnknown = before.runsUnknown
    this.#budget = before.budget
    return undefined
  }

  placeOf({ cwds }: Scope): Place {
    return { cwds, root: this.root, guardsPaths: this.unknowns !== 'nothing' }
  }

  checkOperator(operator: Operator, at: TextRange): void {
    if (!this.lists.deniesOperator(operator)) return
    this.#deniedOperators.add(operator)
    this.deny('OPERATOR_DENIED', `Policy denies the operator ${JSON.stringify(operator)}`, at)
  }

  /** Whether the line was refused for an operator already. */
  hasDenied(operator: Operator): boolean {
    return this.#deniedOperators.has(operator)
  }

  commandCount(): number {
    return this.#commands.length
  }

  addCommand(command: JudgedCommand): void {
    if (this.#commands.length >= MAX_COMMANDS) throw new RangeError('Too many commands')
    this.#commands.push(command)
    this.applyRules(command)
  }

  applyRules(command: JudgedCommand): void {
    const result = this.#decide?.(command)
    if (result === undefined || result.decision === 'allow') return
    const reason: DenialReason = { code: 'RULE', action: result.decision, message: result.reason, at: command.at }
    // Separate lists, so that many questions leave room for a later denial.
    addReason(result.decision === 'deny' ? this.#denials : this.#questions, reason)
  }

  addAccess(path: string, mode: 'read' | 'write', scope: Scope, at: TextRange): void {
    // The only devices that the built-in shells have.
    if (path === '/dev/null' || (path === '/dev/urandom' && mode === 'read')) return
    const paths = resolvePath(path, scope.cwds, this.root)
    if (paths === 'outside') {
      this.deny('OUTSIDE_WORKSPACE', `${JSON.stringify(path)} is not inside the workspace`, at)
    } else if (paths === 'unknown') {
      this.deny('CWD_UNKNOWN', `The location of ${JSON.stringify(path)} is only known at run time`, at)
    } else {
      for (const each of paths) {
        this.#accesses.set(`${mode} ${each}`, { path: each, mode, at })
        if (mode === 'write') this.#written.add(each)
      }
    }
  }

  addExecuted(path: string, scope: Scope, at: TextRange): void {
    const paths = this.#resolve(path, scope)
    if (paths.length === 0) this.#runsUnknown = true
    for (const each of paths) this.#executed.set(each, at)
  }

  addScript(path: string, kind: ScriptFile['kind'], scope: Scope, details?: ScriptDetails): void {
    // Most operands are no scripts, and a directory that a line creates is often left: `mkdir a && cd a && frob ../b`.
    if (kind !== 'operand' || path.replace(/^(\.\.?\/+)*/, '').includes('..')) this.addLeft(path, scope)
    for (const [index, each] of this.#resolve(path, scope).entries()) {
      const cwd = scope.cwds?.[index] ?? scope.cwds?.[0] ?? ROOT
      const script = { path: each, kind, cwd, ...details }
      this.#scripts.set(JSON.stringify(script), script)
      if (this.#scripts.size > MAX_SCRIPTS) {
        this.deny('TOO_COMPLEX', `The line runs more than ${MAX_SCRIPTS} script files`, [0, 0])
        return
      }
    }
  }

  addLeft(path: string, { cwds = [] }: Pick<Scope, 'cwds'>): void {
    if (!path.includes('..')) return
    const isAbsolute = path.startsWith('/')
    const rest = isAbsolute ? path.slice(this.root?.length ?? 0) : path
    for (const cwd of isAbsolute ? [ROOT] : cwds) {
      const names = cwd === ROOT ? [] : cwd.split('/')
      for (const name of rest.split('/')) {
        if (name === '..') {
          if (names.length > 0) this.#left.add(names.join('/') as LogicalPath)
          names.pop()
        } else if (name !== '' && name !== '.') names.push(name)
      }
    }
  }

  scripts(): readonly ScriptFile[] {
    const left = this.#left.size === 0 ? {} : { left: [...this.#left] }
    return Array.from(this.#scripts.values(), (script) => ({ ...script, ...left }))
  }

  addWritten(path: string, scope: Scope): void {
    for (const each of this.#resolve(path, scope)) this.#written.add(each)
  }

  spend(units: number): boolean {
    this.#budget -= units
    return this.#budget >= 0
  }

  verdict(): CommandVerdict {
    for (const [path, at] of this.#executed) {
      if (!this.#written.has(path)) continue
      this.deny('WRITTEN_THEN_RUN', `The line writes ${JSON.stringify(path)} and runs it`, at)
    }
    const runsFile = this.#runsUnknown || this.#executed.size > 0
    if (this.unknowns === 'paths' && runsFile && this.#unknownPath !== undefined) {
      addReason(this.#denials, this.#unknownPath)
    }
    return {
      decision: this.#denials.length > 0 ? 'deny' : this.#questions.length > 0 ? 'ask' : 'allow',
      commands: this.#commands,
      accesses: [...this.#accesses.values()],
      reasons: [...this.#denials, ...this.#questions].slice(0, MAX_REASONS),
    }
  }

  #resolve(path: string, scope: Scope): readonly LogicalPath[] {
    const paths = resolvePath(path, scope.cwds, this.root)
    return typeof paths === 'string' ? [] : paths
  }
}

function addReason(reasons: DenialReason[], reason: DenialReason): void {
  const isKnown = reasons.some(
    ({ code, at, message }) => code === reason.code && at[0] === reason.at[0] && message === reason.message,
  )
  if (!isKnown && reasons.length < MAX_REASONS) reasons.push(reason)
}
