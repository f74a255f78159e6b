import { withDefaultInWords } from './describe-default.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * A schema as strict function calling takes it: closed objects, all of whose fields are required; those that were optional
 * may be null. `undefined` where an object has free keys, which cannot be said.
 */
export function strictSchema(schema: Schema): Record<string, unknown> | undefined {
  const { properties, items, required, additionalProperties, ...rest } = withDefaultInWords(schema)
  if (typeof additionalProperties === 'object') return undefined
  if (items !== undefined) {
    const each = strictSchema(items as Schema)
    return each && { ...rest, items: each }
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

/** Null is what is left out; what it would mean otherwise cannot be said here, and is not told. */
function orNull({ type, enum: values, description, ...rest }: Schema): Record<string, unknown> {
  const types = [type].flat()
  return {
    type: types.includes('null') ? type : [...types, 'null'],
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(typeof description === 'string' && { description: description.replace(/; null: [^;]*/, '') }),
    ...rest,
  }
}

/** What a strict call leaves out, left out. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => (field === null ? [] : [[name, withoutNulls(field)]])),
  )
}
