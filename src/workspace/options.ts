import type { AuditSink } from '../audit/audit-log.ts'
import type { Check, CommandCheck, FunctionCheck } from '../call/state/checks.ts'
import type { Hooks } from '../call/state/hooks.ts'
import type { Task } from '../call/state/run-state.ts'
import type { Dialect } from '../dialects/runtime/types.ts'
import type { GitProvider } from '../git/provider.ts'
import type { WorkspaceHistory } from '../history/journal.ts'
import { type Limits, limitTable } from '../limits.ts'
import type { ApproveHandler } from '../policy/approval.ts'
import { labelNames } from '../policy/labels.ts'
import type { ParkedCalls } from '../policy/parked-calls.ts'
import type { WorkPlan } from '../policy/plan.ts'
import type { PolicyInput } from '../policy/schema.ts'
import type { TaintOrigin } from '../policy/taint.ts'
import type { Shell } from '../shells/types.ts'
import type { Backend } from '../storage/backend.ts'
import { isBackend } from '../storage/is-backend.ts'
import type { Tool } from '../tools/define-tool.ts'
import type { ToolSet } from '../tools/tool-sets.ts'
import {
  isBoolean,
  isClock,
  isData,
  isFunction,
  isListOf,
  isObjectWith,
  isOneOf,
  isOneOrMore,
  isPlainObject,
  isPositive,
  isRecordOf,
  isText,
  misplacedOptions,
  type OptionTable,
  shape,
} from '../util/check-options.ts'
import type { RecordLine } from './recorder.ts'

/** Options of `createWorkspace`. */
export interface WorkspaceOptions<Extra extends readonly Tool[] = readonly Tool[]> {
  /** The storage of the files. Give either this or `mounts`. */
  readonly backend?: Backend
  /** Several backends in one tree, by path prefix; `''` is the root. */
  readonly mounts?: Readonly<Record<string, Backend>>
  /** The name of a preset, or a policy object. Required. */
  readonly policy: PolicyInput
  /** The tools of the workspace. Default: all. */
  readonly tools?: ToolSet<Extra[number]['name']>
  /**
   * Tools of the embedding program, made with `defineTool`, in addition to those of `tools`. They take the same steps as
   * built-in tools: their plan is guarded and evaluated, and their changes are committed, recorded and undone.
   *
   * An own tool with the name of a built-in tool replaces it: the built-in tool is not registered, and calls of that name,
   * also those of `files`, dialects and adapters, go to the own tool and its schema. A new built-in tool in a later
   * version therefore never breaks an own tool.
   *
   * @throws TypeError for an invalid definition, a name that is not snake_case, and for two own tools with one name
   */
  readonly extraTools?: Extra
  /** Registers no mutating tool, and makes the backend read-only. */
  readonly readOnly?: boolean
  /** `plan`: a run cannot change files until its plan (`submit_plan`) is approved. Default: `act`. */
  readonly mode?: 'act' | 'plan'
  readonly limits?: Partial<Limits>
  /** Answers approval requests. Without it, such a call ends with `APPROVAL_REQUIRED` and waits in `parked`. */
  readonly approve?: ApproveHandler
  /** Stores calls that wait for an approval; see `Workspace.resume`. Default: in memory. */
  readonly parked?: ParkedCalls
  readonly hooks?: Hooks
  /**
   * Checks that run after a call of a tool has changed files. Their findings are part of its result, so that an agent sees what
   * it broke. `wardspace/checks` has checks of JSON and TypeScript. A check reads what the agent may read, and never changes
   * what the call did.
   *
   * @throws TypeError for an invalid check, and for two checks with one name
   */
  readonly checks?: readonly Check[]
  /** Receives the audit records. Default: in memory. */
  readonly audit?: AuditSink | readonly AuditSink[]
  /** Stores complete results and diffs as `RUN/NAME`. All are written when the workspace closes. Default: in memory. */
  readonly artifacts?: Backend
  /** `hash`: replacing a file needs its hash, or a reading of the whole file. `shown`: it needs both. Default: `hash`. */
  readonly staleGuard?: 'hash' | 'shown'
  /**
   * Provides `Workspace.git`, and lets the commands of `bash()` change the repository: `git()` of `wardspace/git`. Diffs work
   * without it.
   */
  readonly git?: GitProvider
  /**
   * Runs commands, such as `bash()` of `wardspace/shells/bash`. It is closed with the workspace. Without a shell, there are no
   * command tools.
   */
  readonly shell?: Shell
  /** Whether a command starts in the directory where the previous one of its run ended. Default: false, at the root. */
  readonly keepCwd?: boolean
  /**
   * Receives a recording line by line: the options of the workspace, and the calls of its runs with their results, without
   * secrets. `replay` repeats it. Forks and operations of `git` are not recorded.
   */
  readonly record?: RecordLine
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly clock?: () => number
  /** Creates the ids of runs and approvals. Default: random. */
  readonly ids?: () => string
  /** The first run of the workspace. */
  readonly run?: RunOptions
  /** The undo history of an earlier workspace over the same files, from its `Workspace.history`. Run ids must differ. */
  readonly history?: WorkspaceHistory
  readonly dialect?: undefined
}

/** Options of a workspace whose tools have the names and shapes of a dialect. */
export interface DialectWorkspaceOptions<Extra extends readonly Tool[] = readonly Tool[]>
  extends Omit<WorkspaceOptions<Extra>, 'dialect'> {
  /** A dialect of `wardspace/dialects/*`, or your own. */
  readonly dialect: Dialect
}

/** Options of a run. */
export interface RunOptions {
  /** Names the run in the audit, and its calls for `undo`. No other run of the workspace, its forks or its `history` may have it. */
  readonly id?: string
  /** Names the agent in the audit. Default: `agent`. */
  readonly actor?: string
  readonly task?: Task
  /** With the memory ACL of the policy: the run sees and stores notes that have one of these scopes. Refused for notes without it. */
  readonly scopes?: readonly string[]
  /** The taint that the run had in another process: `taint.origin()` there. */
  readonly taint?: TaintOrigin
  /** The plan that was approved for the run in another process: `plan` there. */
  readonly plan?: WorkPlan
}

/** Options of the state of a workspace. A fork passes its own backend. */
export type StateOptions = Omit<WorkspaceOptions, 'backend' | 'mounts'> & {
  readonly backend?: Backend | undefined
  readonly mounts?: WorkspaceOptions['mounts'] | undefined
}

/** The options of a run, of `run()` and of `fork()`. */
export const runOptions: OptionTable<RunOptions> = {
  id: isText,
  actor: isText,
  task: shape<Task>({ text: isText, scope: isListOf(isText), risk: isText }, 'text'),
  scopes: isListOf(isText),
  taint: shape<TaintOrigin>(
    { label: isOneOf(...labelNames), callId: isText, tool: isText, path: isText },
    'label',
    'callId',
    'tool',
  ),
  plan: shape<WorkPlan>({ text: isText, paths: isListOf(isText) }, 'text'),
}

/** Limits that are written beside `limits`. */
export const misplacedLimits = misplacedOptions(
  Object.fromEntries(Object.keys(limitTable).map((name) => [name, `pass limits: { ${name}: … }`])),
)

/** The fields of both kinds of checks. */
const checkFields: OptionTable<{ readonly [K in keyof (FunctionCheck | CommandCheck)]: unknown }> = {
  name: isText,
  files: isOneOrMore(isText),
  timeoutMs: isPositive,
  check: isFunction,
  command: isText,
}

/** The options of `createWorkspace`. */
export const workspaceOptions: OptionTable<DialectWorkspaceOptions> = {
  backend: isBackend,
  mounts: isRecordOf(isBackend),
  // Policy and tools are checked further when they are compiled.
  policy: (value, ...at) =>
    isData(typeof value === 'object' && value !== null ? isPlainObject(value, ...at) : value, ...at),
  tools: (value) => (Array.isArray(value) ? [...value] : value),
  extraTools: isListOf(isData),
  readOnly: isBoolean,
  mode: isOneOf('act', 'plan'),
  limits: shape(limitTable),
  approve: isFunction,
  parked: isObjectWith('a store such as directoryParking(path)', 'put', 'take'),
  hooks: shape<Hooks>({ preToolCall: isOneOrMore(isFunction), postToolResponse: isOneOrMore(isFunction) }),
  checks: isListOf(shape(checkFields, 'name')),
  audit: isOneOrMore(isObjectWith('an audit sink such as jsonlSink(path)', 'append')),
  artifacts: isBackend,
  staleGuard: isOneOf('hash', 'shown'),
  git: isObjectWith('git()', 'open'),
  shell: isObjectWith('a shell such as bash()', 'judge', 'run', 'close'),
  keepCwd: isBoolean,
  record: isFunction,
  clock: isClock,
  ids: isFunction,
  run: shape(runOptions),
  history: isData,
  dialect: isObjectWith('a dialect such as mcpFilesystem()'),
}
