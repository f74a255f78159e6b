import { checkOptions, refuseSurplus } from '../../util/check-options.ts'
import { modelTools } from './model-tools.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type OfferOptions,
  offerTable,
  selectTools,
} from './select-tools.ts'
import { createCaller } from './toolbox.ts'

/** A tool of LlamaIndex. */
export interface LlamaIndexTool {
  readonly metadata: {
    readonly name: string
    readonly description: string
    readonly parameters: Record<string, unknown>
  }
  /** Runs a call, and returns the text for the model. */
  call(input: unknown): Promise<string>
}

/**
 * Returns the tools of a workspace for the agents of LlamaIndex. A refusal is a normal result that begins with its code, because
 * LlamaIndex replaces the text of an error.
 *
 * @throws TypeError for a name in `tools` that the workspace does not have
 * @example
 * const [readFile] = llamaIndexTools(workspace, { tools: ['read_file'] })
 * const text = await readFile?.call({ path: 'src/app.ts' }) // the tools are for agent({ tools })
 */
export function llamaIndexTools(
  workspace: CallableTools | CallableDialectTools,
  requested?: OfferOptions,
): LlamaIndexTool[] {
  refuseSurplus('llamaIndexTools()', 2, arguments)
  const options = checkOptions<OfferOptions>('llamaIndexTools()', requested, offerTable)
  const caller = createCaller(workspace, options)
  return modelTools(selectTools('llamaIndexTools()', workspace, options)).map(({ name, description, inputSchema }) => ({
    metadata: { name, description, parameters: inputSchema },
    call: async (input) => (await caller({ name, input, id: undefined })).text,
  }))
}
