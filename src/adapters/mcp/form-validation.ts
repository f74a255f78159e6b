import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js'

interface Form {
  readonly properties: Readonly<Record<string, { readonly type?: string; readonly enum?: readonly unknown[] }>>
  readonly required: readonly string[]
}

/**
 * Judges the answers to the forms that this server has people fill in, whose fields are texts. The protocol's own judge makes code from
 * the form, which workers do not allow.
 */
export const formAnswers: jsonSchemaValidator = {
  getValidator: (schema) => {
    const { properties, required } = schema as unknown as Form
    return (input) => {
      // That it is an object, the protocol has seen.
      const wrong = wrongField(input as Readonly<Record<string, unknown>>, properties, required)
      return wrong === undefined
        ? { valid: true, data: input as never, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: wrong }
    }
  },
}

function wrongField(
  answer: Readonly<Record<string, unknown>>,
  properties: Form['properties'],
  required: readonly string[],
): string | undefined {
  for (const name of required) if (!Object.hasOwn(answer, name)) return `${name} is missing`
  for (const [name, { enum: known }] of Object.entries(properties)) {
    if (!Object.hasOwn(answer, name)) continue
    if (typeof answer[name] !== 'string') return `${name} is no text`
    if (known !== undefined && !known.includes(answer[name])) return `${name} is none of what may be chosen`
  }
  return undefined
}
