import type { jsonSchemaValidator } from './sdk.ts'

interface Form {
  readonly properties: Readonly<Record<string, { readonly type?: string; readonly enum?: readonly unknown[] }>>
  readonly required?: readonly string[] | undefined
}

/**
 * Validates answers to the forms of this server, whose fields are strings. The SDK's own validator generates code from the schema,
 * which workers do not allow.
 */
export const formValidator: jsonSchemaValidator = {
  getValidator: (schema) => (input) => {
    // The protocol has checked that it is an object.
    const problem = wrongField(input as Readonly<Record<string, unknown>>, schema as unknown as Form)
    return problem === undefined
      ? { valid: true, data: input as never, errorMessage: undefined }
      : { valid: false, data: undefined, errorMessage: problem }
  },
}

/** Returns what is wrong with the first field that does not fit the form. */
export function wrongField(
  answer: Readonly<Record<string, unknown>>,
  { properties, required = [] }: Form,
): string | undefined {
  for (const name of required) if (!Object.hasOwn(answer, name)) return `${name} is missing`
  for (const [name, { enum: values }] of Object.entries(properties)) {
    if (!Object.hasOwn(answer, name)) continue
    if (typeof answer[name] !== 'string') return `${name} is not a string`
    if (values !== undefined && !values.includes(answer[name])) return `${name} is not one of the choices`
  }
  return undefined
}
