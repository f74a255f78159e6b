import { Serializable } from '@langchain/core/load/serializable'
import { ToolMessage } from '@langchain/core/messages/tool'
import { DynamicStructuredTool, type ToolRunnableConfig } from '@langchain/core/tools'
import * as z from 'zod'
import type { $ZodUnknown } from 'zod/v4/core'
import type { CallOptions } from '../../call/state/call.ts'
import { checkOptions, isFunction, refuseSurplus } from '../../util/check-options.ts'
import type { FileOptions } from '../../workspace/files.ts'
import { approvalsOf, type PendingCall } from '../model/framework-approvals.ts'
import { isImage, type MediaOptions, type ModelMedia, mediaCheck, takenTypes } from '../model/media.ts'
import { modelTools } from '../model/model-tools.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type CallResult,
  callOptionsOf,
  type OfferOptions,
  offerTable,
  selectTools,
} from '../model/select-tools.ts'
import { modelAnswer } from '../model/toolbox.ts'
import { filesTable, type OpenTarget, openTarget, type SandboxTarget, withText } from '../sandbox/target.ts'

export type { FileOptions } from '../../workspace/files.ts'
export type { PendingAnswer, PendingCall } from '../model/framework-approvals.ts'
export type { MediaOptions } from '../model/media.ts'
export type { CallableDialectTools, CallableTools, OfferOptions } from '../model/select-tools.ts'
export type { SandboxCaller, SandboxTarget } from '../sandbox/target.ts'

/** Tools to offer, and the `interrupt` of LangGraph. */
export interface LangChainOptions extends OfferOptions, MediaOptions {
  /**
   * `interrupt` of `@langchain/langgraph`, for a graph with a checkpointer that asks for approvals in its own flow; the workspace must
   * have no `approve`. A call that needs an approval interrupts the graph with a `PendingCall`. The graph continues with
   * `new Command({ resume: { approvalId, answer: 'allow' } })`: an answer counts for the call with this id alone, in the process
   * that asked.
   */
  readonly interrupt?: (pending: PendingCall) => unknown
}

/** A tool of a workspace for LangChain. It accepts any input, because the workspace validates it. */
export type LangChainTool = DynamicStructuredTool<$ZodUnknown>

/**
 * Returns the tools of a workspace for LangChain (version 1): `bindTools`, agents, `ToolNode`. Only the workspace validates input, so
 * invalid input is a refusal like any other. A refusal is not thrown: it is a `ToolMessage` with the status `error`. The whole
 * result is the `artifact` of the message. The id of the tool call is the `stepId` of its audit records, and the `signal` of the
 * configuration cancels the call.
 *
 * @throws TypeError for a name in `tools` that the workspace does not have
 * @example
 * const tools = langchainTools(workspace)
 * const message = await tools.find(({ name }) => name === 'read_file')?.invoke({
 *   type: 'tool_call', id: 'call_1', name: 'read_file', args: { path: 'src/app.ts' },
 * })
 */
export function langchainTools(
  workspace: CallableTools | CallableDialectTools,
  requested?: LangChainOptions,
): LangChainTool[] {
  refuseSurplus('langchainTools()', 2, arguments)
  const table = { ...offerTable, ...mediaCheck(), interrupt: isFunction }
  const { interrupt, ...checked } = checkOptions<LangChainOptions>('langchainTools()', requested, table)
  const options = { ...checked, ...takenTypes(checked.media) }
  const approvals = interrupt === undefined ? 'workspace' : 'framework'
  const asking = approvalsOf('langchainTools()', workspace, { ...options, approvals })
  const run: { callTool(name: string, input: unknown, callOptions?: CallOptions): Promise<CallResult> } =
    options.run ?? workspace
  return modelTools(selectTools('langchainTools()', workspace, options)).map(
    ({ name, description, inputSchema }) =>
      new DynamicStructuredTool({
        name,
        description,
        // The schema is sent to the model, but not used for validation.
        schema: z.unknown().meta(inputSchema),
        responseFormat: 'content_and_artifact',
        func: async (input: unknown, _manager, config?: ToolRunnableConfig) => {
          const id = config?.toolCall?.id
          const { signal } = config ?? {}
          const result =
            asking === undefined || interrupt === undefined || id === undefined
              ? await run.callTool(name, input, callOptionsOf(options, id, signal))
              : await asking.callAsking({ id, name, input, signal }, interrupt)
          const { text, isError, media } = modelAnswer(name, result, options.media)
          if (media.length > 0) return [blocksOf(text, media), result]
          if (!isError || id === undefined) return [text, result]
          return [new ToolMessage({ content: text, artifact: result, tool_call_id: id, name, status: 'error' }), result]
        },
      }),
  )
}

/**
 * `BaseFileStore` of LangChain. A refusal is an error whose message has the code and the hint, with the refusal as its `cause`. It is
 * not serialized with a chain.
 */
export interface LangChainFileStore extends Serializable {
  /** Returns the text of a file. `/a.txt` is the same as `a.txt`. */
  readonly readFile: (path: string) => Promise<string>
  /** Writes or replaces a file. */
  readonly writeFile: (path: string, contents: string) => Promise<void>
}

/**
 * Returns the files of a workspace or a run for `ReadFileTool` and `WriteFileTool` of `@langchain/classic/tools`. Each use of a tool
 * is one call with guard, policy, approval, audit and undo.
 *
 * @throws TypeError for anything but a workspace or a run, and for wrong options
 * @example
 * const store = langchainFileStore(workspace)
 * const text = await store.readFile('src/app.ts')
 */
export function langchainFileStore(target: SandboxTarget, options?: FileOptions): LangChainFileStore {
  refuseSurplus('langchainFileStore()', 2, arguments)
  return new FileStore(openTarget('langchainFileStore()', target, options, filesTable, '/'))
}

class FileStore extends Serializable implements LangChainFileStore {
  readonly lc_namespace = ['wardspace', 'langchain']
  readonly readFile: LangChainFileStore['readFile']
  readonly writeFile: LangChainFileStore['writeFile']

  constructor(target: OpenTarget) {
    super()
    const { files, rooted } = target
    this.readFile = (path) => withText(target, undefined, () => files.readText(rooted(path)))
    this.writeFile = (path, contents) =>
      withText(target, undefined, async () => void (await files.write(rooted(path), contents)))
  }
}

/** Returns the standard content blocks of LangChain. */
function blocksOf(text: string, media: readonly ModelMedia[]) {
  const files = media.map((one) => {
    const { name: filename, ...data } = one
    return isImage(one) ? { type: 'image', ...data } : { type: 'file', ...data, metadata: { filename } }
  })
  return [...(text === '' ? [] : [{ type: 'text', text }]), ...files]
}
