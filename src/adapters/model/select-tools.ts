import type { CallOptions, Success } from '../../call/state/call.ts'
import type { DialectResult, DialectToolInfo } from '../../dialects/runtime/types.ts'
import type { Failure } from '../../errors.ts'
import type { ApproveHandler } from '../../policy/approval.ts'
import type { ToolDescription } from '../../workspace/create-workspace.ts'

/** A workspace, or whatever passes calls on to one. */
export interface CallableTools {
  readonly tools: readonly ToolDescription[]
  /** Calls a tool by its name. Never rejects for what a model, a file or a backend can cause. */
  callTool(name: string, input: unknown, options?: CallOptions): Promise<Success | Failure>
}

/** As {@link CallableTools}, in a dialect. */
export interface CallableDialectTools {
  readonly tools: readonly DialectToolInfo[]
  /** Calls a tool by its name. Never rejects for what a model, a file or a backend can cause. */
  callTool(name: string, input: unknown, options?: CallOptions): Promise<DialectResult>
}

/** What a call gives, whichever names it goes by. */
export type CallResult = Success | Failure | DialectResult

/** What a model is offered of a workspace. */
export interface OfferOptions {
  /** The run that the model's calls belong to. Default: the workspace's own. */
  readonly run?: Pick<CallableTools, 'callTool'> | Pick<CallableDialectTools, 'callTool'>
  /** Only these tools of the workspace. Default: all of them. */
  readonly tools?: readonly string[]
  /** Answers what policy asks, where the workspace has no `approve` of its own. */
  readonly approve?: ApproveHandler
}

/**
 * The tools of a workspace that are offered, in the workspace's order.
 *
 * @throws TypeError for a name that the workspace does not have
 */
export function selectTools(
  workspace: CallableTools | CallableDialectTools,
  { tools: wanted }: OfferOptions,
): (ToolDescription | DialectToolInfo)[] {
  for (const name of wanted ?? []) {
    if (!workspace.tools.some((tool) => tool.name === name)) {
      throw new TypeError(`The workspace has no tool ${JSON.stringify(name)}`)
    }
  }
  return [...workspace.tools].filter(({ name }) => wanted === undefined || wanted.includes(name))
}

/** How one call is made: by which step of the caller's work, and what cancels it. */
export function callOptionsOf(
  { approve }: OfferOptions,
  step: string | undefined,
  signal: AbortSignal | undefined,
): CallOptions {
  return {
    ...(step === undefined ? {} : { step }),
    ...(signal === undefined ? {} : { signal }),
    ...(approve === undefined ? {} : { approve }),
  }
}
