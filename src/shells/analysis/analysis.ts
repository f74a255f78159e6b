import type { ParsedScript } from 'unbash'
import type { LogicalPath } from '../../paths/logical-path.ts'
import type { Decision } from '../../policy/policy.ts'
import type { CommandLists, Operator } from './command-lists.ts'
import { type CwdAfter, type PossibleCwds, resolvePath } from './cwd.ts'
import type { ScriptFacts } from './script-facts.ts'
import type { CommandAccess, CommandVerdict, DenialReason, JudgedCommand, ReasonCode, TextRange } from './verdict.ts'
import type { Argument } from './words.ts'

/** Where in the line, and inside of what, something is judged. */
export interface Scope {
  /** In `sh` some of bash's words mean something else, so they are refused there. */
  readonly dialect: 'bash' | 'sh'
  readonly cwds: PossibleCwds
  /** What everything in a script that is an argument points at. */
  readonly at?: TextRange
  readonly via: readonly string[]
  /** The inner command of a launcher that names it in full: only the launcher has to be on the allowlist. */
  readonly skipAllowlist?: boolean
  /** The text of a literal here-document or here-string on standard input. */
  readonly stdin?: string | undefined
  /** Functions whose body this is. */
  readonly enclosingFunctions: readonly string[]
  /** Inside an expansion, a test or arithmetic, where unquoted text may hold what is an operator elsewhere. */
  readonly isLoose?: boolean
  /** A text that `eval` or `trap` runs in the shell of another script, which may set the same variables. */
  readonly isEval?: boolean
  /** Where a pattern stands, so that extended globs mean the same everywhere. */
  readonly isPattern?: boolean
}

/** What the judgement of one line gathers. */
export interface Analysis {
  readonly lists: CommandLists
  readonly root: string | undefined
  readonly deny: (code: ReasonCode, message: string, at: TextRange) => void
  readonly checkOperator: (operator: Operator, at: TextRange) => void
  /** @throws RangeError if there are too many */
  readonly addCommand: (command: JudgedCommand) => void
  /** Other ways to write a command that was judged before. */
  readonly applyRules: (command: JudgedCommand) => void
  /** A file that the line opens; says so if it lies outside. */
  readonly addAccess: (path: string, mode: 'read' | 'write', scope: Scope, at: TextRange) => void
  /** A file that the line runs as a program or a script. */
  readonly addExecuted: (path: string, scope: Scope, at: TextRange) => void
  /** A path that a command names as an argument, where it might write it. */
  readonly addWritten: (path: string, scope: Scope) => void
  /** Takes from what may be parsed in all; false once it is used up. */
  readonly spend: (units: number) => boolean
  readonly verdict: () => CommandVerdict
}

/** A rule's word on one command. */
export type Decide = (command: JudgedCommand) => { readonly decision: Decision; readonly reason: string }

/** What every part of the walk through one script hands on. */
export interface WalkContext {
  readonly analysis: Analysis
  readonly facts: ScriptFacts
  /** Functions whose definition has been judged. */
  readonly defined: Set<string>
  /** A script inside the tree: of a substitution, whose directory changes end with it. */
  readonly nested: (script: ParsedScript | undefined, scope: Scope, at: TextRange) => void
  /** A script in an argument: of `sh -c` or `eval`. */
  readonly source: (text: string, scope: Scope, at: TextRange) => CwdAfter
  /** The words of a command that another one starts. */
  readonly run: (words: readonly Argument[], scope: Scope, at: TextRange) => CwdAfter
}

/** The place of a node in the line. */
export function rangeOf(node: { readonly pos: number; readonly end: number }, scope: Scope): TextRange {
  return scope.at ?? [node.pos, node.end]
}

const MAX_REASONS = 100
const MAX_COMMANDS = 1000
const BUDGET = 262_144

export function createAnalysis(lists: CommandLists, root: string | undefined, decide: Decide | undefined): Analysis {
  const denied: DenialReason[] = []
  const asked: DenialReason[] = []
  const commands: JudgedCommand[] = []
  const accesses = new Map<string, CommandAccess>()
  const ran = new Map<LogicalPath, TextRange>()
  const written = new Set<LogicalPath>()
  let budget = BUDGET

  function deny(code: ReasonCode, message: string, at: TextRange): void {
    add(denied, { code, action: 'deny', message, at })
  }

  function add(reasons: DenialReason[], reason: DenialReason): void {
    const same = reasons.some(
      ({ code, at, message }) => code === reason.code && at[0] === reason.at[0] && message === reason.message,
    )
    if (!same && reasons.length < MAX_REASONS) reasons.push(reason)
  }

  function rule(command: JudgedCommand): void {
    const ruled = decide?.(command)
    if (ruled === undefined || ruled.decision === 'allow') return
    // However many commands are to be asked about, what is denied later on has its place.
    const reason: DenialReason = { code: 'RULE', action: ruled.decision, message: ruled.reason, at: command.at }
    add(ruled.decision === 'deny' ? denied : asked, reason)
  }

  function place(path: string, scope: Scope): readonly LogicalPath[] {
    const paths = resolvePath(path, scope.cwds, root)
    return typeof paths === 'string' ? [] : paths
  }

  return {
    lists,
    root,
    deny,
    checkOperator(operator, at) {
      if (lists.deniesOperator(operator))
        deny('OPERATOR_DENIED', `Policy denies the operator ${JSON.stringify(operator)}`, at)
    },
    addCommand(command) {
      if (commands.length >= MAX_COMMANDS) throw new RangeError('Too many commands')
      commands.push(command)
      rule(command)
    },
    applyRules: rule,
    addAccess(path, mode, scope, at) {
      // All of /dev that a shell of ours has.
      if (path === '/dev/null' || (path === '/dev/urandom' && mode === 'read')) return
      const paths = resolvePath(path, scope.cwds, root)
      if (paths === 'outside') deny('OUTSIDE_WORKSPACE', `${JSON.stringify(path)} is not inside the workspace`, at)
      else if (paths === 'unknown') deny('CWD_UNKNOWN', `Where ${JSON.stringify(path)} lies depends on the run`, at)
      else {
        for (const each of paths) {
          accesses.set(`${mode} ${each}`, { path: each, mode, at })
          if (mode === 'write') written.add(each)
        }
      }
    },
    addExecuted(path, scope, at) {
      for (const each of place(path, scope)) ran.set(each, at)
    },
    addWritten(path, scope) {
      for (const each of place(path, scope)) written.add(each)
    },
    spend(units) {
      budget -= units
      return budget >= 0
    },
    verdict() {
      for (const [path, at] of ran) {
        if (written.has(path)) deny('WRITTEN_THEN_RUN', `The line writes ${JSON.stringify(path)} and runs it`, at)
      }
      const decision = denied.length > 0 ? 'deny' : asked.length > 0 ? 'ask' : 'allow'
      return {
        decision,
        commands,
        accesses: [...accesses.values()],
        reasons: [...denied, ...asked].slice(0, MAX_REASONS),
      }
    },
  }
}
