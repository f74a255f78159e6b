import type { LanguageModelV3FunctionTool, LanguageModelV3Message } from '@ai-sdk/provider'

/** Maximum characters of the last result and of earlier results, since the browser's model has a small context. */
const LAST_RESULT = 6_000
const EARLIER_RESULT = 600

/** The instructions for a model without tool support. */
export function instructionsFor(
  prompt: readonly LanguageModelV3Message[],
  tools: readonly LanguageModelV3FunctionTool[],
): string {
  const system = prompt.flatMap(({ role, content }) => (role === 'system' ? [content] : []))
  return [
    ...system,
    'Answer in JSON: {"say": what you say to the person, "call": null or {"tool": name, "input": object}}.',
    'Call one tool at a time and wait for its result. With "call": null you have finished.',
    'The tools:',
    ...tools.map(({ name, description, inputSchema }) => `- ${name}(${fieldsOf(inputSchema)}): ${description ?? ''}`),
  ].join('\n')
}

/** The JSON schema that answers are constrained to. */
export function answerSchema(tools: readonly string[]): object {
  const call = {
    type: 'object',
    properties: { tool: { type: 'string', enum: tools }, input: { type: 'object' } },
    required: ['tool', 'input'],
    additionalProperties: false,
  }
  return {
    type: 'object',
    properties: { say: { type: 'string' }, call: { anyOf: [{ type: 'null' }, call] } },
    required: ['say', 'call'],
    additionalProperties: false,
  }
}

/** Renders the conversation so far as text. */
export function transcriptOf(prompt: readonly LanguageModelV3Message[]): string {
  const results = prompt.filter(({ role }) => role === 'tool').length
  let result = 0
  return prompt
    .flatMap((message) => {
      if (message.role === 'system') return []
      if (message.role === 'tool') {
        result += 1
        const maxLength = result === results ? LAST_RESULT : EARLIER_RESULT
        return message.content.flatMap((part) =>
          part.type === 'tool-result'
            ? [`Result of ${part.toolName}: ${cut(JSON.stringify(part.output), maxLength)}`]
            : [],
        )
      }
      return message.content.flatMap((part) => {
        if (part.type === 'text') return [`${message.role === 'user' ? 'Person' : 'You'}: ${part.text}`]
        return part.type === 'tool-call' ? [`You called ${part.toolName} with ${JSON.stringify(part.input)}`] : []
      })
    })
    .join('\n')
}

export interface Answer {
  readonly say: string
  readonly call: { readonly tool: string; readonly input: unknown } | undefined
}

/** @throws Error if the text does not match the schema */
export function readAnswer(text: string): Answer {
  let answer: { say?: unknown; call?: { tool?: unknown; input?: unknown } | null }
  try {
    answer = JSON.parse(text)
  } catch {
    throw new Error('The browser’s model did not answer in JSON')
  }
  const { say, call } = answer ?? {}
  if (typeof say !== 'string') throw new Error('The browser’s model did not answer in the requested form')
  if (typeof call?.tool !== 'string') return { say, call: undefined }
  return { say, call: { tool: call.tool, input: call.input ?? {} } }
}

/** `path: string, startLine?: integer` */
function fieldsOf(schema: LanguageModelV3FunctionTool['inputSchema']): string {
  const required = new Set(schema.required ?? [])
  return Object.entries(schema.properties ?? {})
    .map(([name, field]) => {
      const { type, enum: values } = typeof field === 'object' ? field : {}
      const kind = values?.map((value) => JSON.stringify(value)).join('|') ?? String(type ?? 'any')
      return `${name}${required.has(name) ? '' : '?'}: ${kind}`
    })
    .join(', ')
}

function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}… (cut; ask for a smaller part)`
}
