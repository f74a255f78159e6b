import { checkCallOptions } from '../call/call-options.ts'
import { callTool } from '../call/call-tool.ts'
import { closedError } from '../call/require-open.ts'
import type { CallOptions } from '../call/state/call.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { checkDialect } from '../dialects/runtime/check-dialect.ts'
import { explainDialectCall, hasDialectTool } from '../dialects/runtime/explain-dialect-call.ts'
import { createAnswerCall, createNullDeviceCall } from '../dialects/runtime/null-device.ts'
import { rootsOfMapping } from '../dialects/runtime/path-mapping.ts'
import { createRejectedCall } from '../dialects/runtime/rejected-call.ts'
import { createDialectCall, type DialectHost, dialectToolsFor } from '../dialects/runtime/run-dialect-tool.ts'
import type { Dialect, DialectToolInfo } from '../dialects/runtime/types.ts'
import { type Failure, ToolError, toFailure } from '../errors.ts'
import { type Path, parsePath } from '../paths/logical-path.ts'
import type { DeclaredRoots } from '../policy/absolute-patterns.ts'
import { type DialectCall, dialectArguments } from '../policy/dialect-call.ts'
import type { Tool } from '../tools/define-tool.ts'
import { recordStep, type StepContext, toToolName } from './run-step.ts'
import type { DialectRun } from './types.ts'

export { agreeOnRoot } from './dialect-shell.ts'

/** A dialect with the code that only workspaces in a dialect need. */
export interface OpenDialect {
  readonly dialect: Dialect
  /** The virtual roots, below which patterns of the policy may lie. */
  readonly roots: DeclaredRoots
  /** @throws TypeError for an invalid dialect, or one that uses other tools */
  requireTools(tools: readonly Tool[]): void
  /** Returns the tools of the dialect that a workspace can serve. */
  toolsOf(workspace: WorkspaceState): readonly DialectToolInfo[]
  /** Opens the dialect in a run. */
  openRun(context: StepContext): Pick<DialectRun, 'call'> & {
    /** Explains a call in the dialect; `undefined` for a tool that the dialect does not have. */
    explain(name: string, input: unknown): ReturnType<DialectRun['explain']> | undefined
  }
}

/** Opens a dialect. The dialect itself is checked by {@link OpenDialect.requireTools}. */
export function openDialect(dialect: Dialect): OpenDialect {
  return {
    dialect,
    get roots() {
      return rootsOfMapping(dialect.pathMapping)
    },
    requireTools: (tools) => checkDialect(dialect, tools),
    toolsOf({ tools, limitChanges }) {
      const mutates = (name: string) => tools.get(name)?.mutates === true
      return dialectToolsFor(dialect, (name) => tools.has(name), mutates, limitChanges)
    },
    openRun(context) {
      const host = createDialectHost(context.workspace, context.run)
      return {
        call: openDialectCall(context, dialect, host),
        explain(name, input) {
          const error = closedError(context.workspace)
          if (error !== undefined) return Promise.resolve(toFailure(error))
          const isOfDialect = hasDialectTool(dialect, name) || !hasTool(context.workspace, name)
          return isOfDialect ? explainDialectCall(dialect, host, name, input) : undefined
        },
      }
    },
  }
}

/** Whether the workspace has a tool, or knows why it does not. */
function hasTool({ tools, unavailableTools }: WorkspaceState, name: string): boolean {
  return tools.has(name) || unavailableTools.has(name)
}

/** Returns the `call` of a run in a dialect. */
function openDialectCall(context: StepContext, dialect: Dialect, host: DialectHost): DialectRun['call'] {
  const call = createDialectCall(dialect, host)
  return async (rawName, input, options) => {
    const name = toToolName(rawName)
    const step = { type: 'spoken', name, input } as const
    let checked: CallOptions
    try {
      checked = checkCallOptions('call()', options)
    } catch (error) {
      const refused = { ...step, refusedOptions: toFailure(error).message }
      return recordStep(context, refused, {}, () => call(name, input, {}, error))
    }
    return recordStep(context, step, checked, (callOptions) =>
      call(name, input, callOptions, closedError(context.workspace)),
    )
  }
}

/** Returns what a dialect needs of a run. */
function createDialectHost(workspace: WorkspaceState, run: RunState): DialectHost {
  const explain: DialectHost['explain'] = async (tool, input, dialectCall) => {
    const { evaluateExplained } = await import('./explain-call.ts')
    return evaluateExplained(workspace, run, tool, input, dialectCall)
  }
  return {
    callTool: (name, input, options) => callTool(workspace, run, name, input, options),
    explain,
    describeCall: (tools, input, translations) => ({
      tools,
      args: dialectArguments(workspace.policy.data, input, translations),
    }),
    limits: workspace.limitChanges,
    noteShown: run.readHistory.noteVersion,
    shownVersion: (path) => shownVersion(workspace, run, path),
    useNullDevice: (access, options) => callTool(workspace, run, createNullDeviceCall(access), {}, options),
    useAlone: async (name, options) =>
      concerns(workspace, name, options.dialectCall)
        ? callTool(workspace, run, createAnswerCall(name), {}, options)
        : undefined,
    explainAlone: async (name, dialectCall) =>
      concerns(workspace, name, dialectCall)
        ? (await explain(createAnswerCall(name), {}, dialectCall)).verdict
        : undefined,
    rejectCall: async (name, reason, options) =>
      (await callTool(workspace, run, createRejectedCall(name, reason), {}, options)) as Failure,
    fieldsOf(name) {
      const tool = workspace.tools.get(name)
      // An own tool in place of a built-in one decides by its own schema what it accepts.
      return tool && !workspace.ownTools.has(tool) ? Object.keys(tool.input.shape) : undefined
    },
    mutates: (name) => workspace.tools.get(name)?.mutates === true,
    unavailableReason(name) {
      if (workspace.tools.has(name)) return undefined
      return (
        workspace.unavailableTools.get(name) ??
        new ToolError('UNKNOWN_TOOL', `${name} is not in this workspace's tool set`)
      )
    },
  }
}

/** Whether the policy has a decision, a rule or a limit for calls of a tool that reach no path. */
function concerns({ policy, toolCallsPerMinute }: WorkspaceState, tool: string, dialectCall: DialectCall): boolean {
  if (dialectCall.tools.some((name) => toolCallsPerMinute?.[name] !== undefined)) return true
  const { rules } = policy.evaluate({ tool, dialectCall, input: {}, accesses: [] })
  return rules.some(({ source }) => source === 'tool' || source === 'rule')
}

/** Returns the latest version of a file that the run was shown. Policy applies to the call that uses it, not here. */
async function shownVersion(workspace: WorkspaceState, run: RunState, requestedPath: string): Promise<string> {
  let path: Path
  try {
    path = await workspace.backend.canonical(parsePath(requestedPath))
  } catch {
    return NO_VERSION
  }
  return run.readHistory.latestVersion(path) ?? NO_VERSION
}

const NO_VERSION = '0'.repeat(64)
