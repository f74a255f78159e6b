import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js'

interface Form {
  readonly properties: Readonly<Record<string, { readonly type?: string; readonly enum?: readonly unknown[] }>>
  readonly required: readonly string[]
}

/**
 * Validates answers to the forms of this server, whose fields are strings. The SDK's own validator generates code from the schema,
 * which workers do not allow.
 */
export const formValidator: jsonSchemaValidator = {
  getValidator: (schema) => {
    const { properties, required } = schema as unknown as Form
    return (input) => {
      // The protocol has checked that it is an object.
      const problem = wrongField(input as Readonly<Record<string, unknown>>, properties, required)
      return problem === undefined
        ? { valid: true, data: input as never, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: problem }
    }
  },
}

function wrongField(
  answer: Readonly<Record<string, unknown>>,
  properties: Form['properties'],
  required: readonly string[],
): string | undefined {
  for (const name of required) if (!Object.hasOwn(answer, name)) return `${name} is missing`
  for (const [name, { enum: values }] of Object.entries(properties)) {
    if (!Object.hasOwn(answer, name)) continue
    if (typeof answer[name] !== 'string') return `${name} is not a string`
    if (values !== undefined && !values.includes(answer[name])) return `${name} is not one of the choices`
  }
  return undefined
}
