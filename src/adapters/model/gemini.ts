import { withDefaultInWords } from './describe-default.ts'
import { modelTools } from './model-tools.ts'
import { type CallableDialectTools, type CallableTools, type OfferOptions, selectTools } from './select-tools.ts'
import { createCaller, type Toolbox } from './toolbox.ts'

/** A tool of the Gemini API: all functions stand in one. */
export interface GeminiTool {
  functionDeclarations: { name: string; description: string; parametersJsonSchema: Record<string, unknown> }[]
}

/** A `functionCall` of a part. */
export interface GeminiCall {
  readonly id?: string
  readonly name?: string
  readonly args?: Record<string, unknown>
}

/** The part that answers it. */
export interface GeminiResult {
  functionResponse: { id?: string; name: string; response: { output: string } | { error: string } }
}

/**
 * The tools of a workspace for the Gemini API. Their schemas keep to the keywords that it documents: what a field is unless it
 * is given stands in its description. A refusal is told under `error`.
 *
 * @throws TypeError for a name in `tools` that the workspace does not have
 * @example
 * const offer = geminiTools(workspace)
 * const part = await offer.call({ name: 'read_file', args: { path: 'src/app.ts' } }) // in the next content of the user
 */
export function geminiTools(
  workspace: CallableTools | CallableDialectTools,
  options: OfferOptions = {},
): Toolbox<GeminiTool, GeminiCall, GeminiResult> {
  const caller = createCaller(workspace, options)
  const functionDeclarations = modelTools(selectTools(workspace, options)).map(
    ({ name, description, inputSchema }) => ({
      name,
      description,
      parametersJsonSchema: within(inputSchema),
    }),
  )
  return {
    tools: [{ functionDeclarations }],
    async call({ id, name = '', args = {} }, how) {
      const { text, isError } = await caller({ name, input: args, id }, how)
      const response = isError ? { error: text } : { output: text }
      return { functionResponse: { ...(id === undefined ? {} : { id }), name, response } }
    },
  }
}

type Schema = Readonly<Record<string, unknown>>

/** The keywords that the API documents, as far as tools use them. */
const known: ReadonlySet<string> = new Set([
  ...['type', 'title', 'description', 'enum', 'format', 'items', 'minItems', 'maxItems', 'minimum', 'maximum'],
  ...['properties', 'required', 'additionalProperties', 'anyOf', 'oneOf', 'prefixItems'],
])

function within(schema: Schema): Record<string, unknown> {
  const kept = Object.fromEntries(Object.entries(withDefaultInWords(schema)).filter(([keyword]) => known.has(keyword)))
  if (schema.properties !== undefined) {
    kept.properties = Object.fromEntries(
      Object.entries(schema.properties as Readonly<Record<string, Schema>>).map(([name, field]) => [
        name,
        within(field),
      ]),
    )
  }
  if (schema.items !== undefined) kept.items = within(schema.items as Schema)
  return kept
}
