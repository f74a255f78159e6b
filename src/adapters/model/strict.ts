import { withDefaultInDescription } from './describe-default.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * Converts a schema for strict function calling: objects are closed, every field is required, and optional fields may be null.
 * Returns `undefined` if an object has free keys, which strict mode cannot express.
 */
export function strictSchema(schema: Schema): Record<string, unknown> | undefined {
  const { properties, items, required, additionalProperties, ...rest } = withDefaultInDescription(schema)
  if (typeof additionalProperties === 'object') return undefined
  if (items !== undefined) {
    const itemSchema = strictSchema(items as Schema)
    return itemSchema && { ...rest, items: itemSchema }
  }
  if (properties === undefined) return rest
  const fields: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(properties as Readonly<Record<string, Schema>>)) {
    const strict = strictSchema(field)
    if (strict === undefined) return undefined
    fields[name] = (required as readonly string[] | undefined)?.includes(name) ? strict : orNull(strict)
  }
  return { ...rest, properties: fields, required: Object.keys(fields), additionalProperties: false }
}

/** Allows null, which means that the field is left out. The description of another meaning of null is removed. */
function orNull({ type, enum: values, description, ...rest }: Schema): Record<string, unknown> {
  const types = [type].flat()
  return {
    type: types.includes('null') ? type : [...types, 'null'],
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(typeof description === 'string' && { description: description.replace(/; null: [^;]*/, '') }),
    ...rest,
  }
}

/** Removes null fields from the input of a strict call. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => (field === null ? [] : [[name, withoutNulls(field)]])),
  )
}
