import { checkOptions, refuseSurplus } from '../../util/check-options.ts'
import { withDefaultInDescription } from './describe-default.ts'
import { type MediaOptions, mediaCheck, takenTypes } from './media.ts'
import { modelTools } from './model-tools.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type OfferOptions,
  offerTable,
  selectTools,
} from './select-tools.ts'
import { createCaller, type Toolbox } from './toolbox.ts'

/** A tool of the Gemini API. One tool contains all functions. */
export interface GeminiTool {
  functionDeclarations: { name: string; description: string; parametersJsonSchema: Record<string, unknown> }[]
}

/** A `functionCall` of a part. */
export interface GeminiCall {
  readonly id?: string
  readonly name?: string
  readonly args?: Record<string, unknown>
}

/** The part that answers the call. */
export interface GeminiResult {
  functionResponse: {
    id?: string
    name: string
    response: { output: string } | { error: string }
    /** Images and documents, if the model takes them: Gemini 3 or later. */
    parts?: { inlineData: { mimeType: string; data: string; displayName: string } }[]
  }
}

/** Tools to offer, and the media that the model takes. */
export interface GeminiOptions extends OfferOptions, MediaOptions {}

/** What the API takes in the answer to a call. It takes no GIF. */
const carried = ['image/png', 'image/jpeg', 'image/webp', 'application/pdf'] as const

/**
 * Returns the tools of a workspace for the Gemini API. Their schemas use only the keywords that the API documents, so defaults are
 * part of the descriptions. A refusal is in `response.error`.
 *
 * @throws TypeError for a name in `tools` that the workspace does not have
 * @example
 * const offer = geminiTools(workspace)
 * const part = await offer.call({ name: 'read_file', args: { path: 'src/app.ts' } }) // in the next content of the user
 */
export function geminiTools(
  workspace: CallableTools | CallableDialectTools,
  requested?: GeminiOptions,
): Toolbox<GeminiTool, GeminiCall, GeminiResult> {
  refuseSurplus('geminiTools()', 2, arguments)
  const options = checkOptions<GeminiOptions>('geminiTools()', requested, { ...offerTable, ...mediaCheck(carried) })
  const caller = createCaller(workspace, { ...options, ...takenTypes(options.media, carried) })
  const functionDeclarations = modelTools(selectTools('geminiTools()', workspace, options)).map(
    ({ name, description, inputSchema }) => ({
      name,
      description,
      parametersJsonSchema: supportedSchema(inputSchema),
    }),
  )
  return {
    tools: [{ functionDeclarations }],
    async call({ id, name = '', args = {} }, callOptions) {
      const { text, isError, media } = await caller({ name, input: args, id }, callOptions)
      const response = isError ? { error: text } : { output: text }
      const parts = media.map(({ name: displayName, ...data }) => ({ inlineData: { ...data, displayName } }))
      const answer = { ...(id === undefined ? {} : { id }), name, response }
      return { functionResponse: parts.length === 0 ? answer : { ...answer, parts } }
    },
  }
}

type Schema = Readonly<Record<string, unknown>>

/** The keywords that the API documents and that tools use. */
const supportedKeywords: ReadonlySet<string> = new Set([
  ...['type', 'title', 'description', 'enum', 'format', 'items', 'minItems', 'maxItems', 'minimum', 'maximum'],
  ...['properties', 'required', 'additionalProperties', 'anyOf', 'oneOf', 'prefixItems'],
])

function supportedSchema(schema: Schema): Record<string, unknown> {
  const result = Object.fromEntries(
    Object.entries(withDefaultInDescription(schema)).filter(([keyword]) => supportedKeywords.has(keyword)),
  )
  if (schema.properties !== undefined) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties as Readonly<Record<string, Schema>>).map(([name, field]) => [
        name,
        supportedSchema(field),
      ]),
    )
  }
  if (schema.items !== undefined) result.items = supportedSchema(schema.items as Schema)
  return result
}
