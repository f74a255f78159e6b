import * as z from 'zod'

/** Returns a schema that refuses unknown fields, at any depth. Objects that take any other field stay as they are. */
export function strictSchema(schema: z.ZodObject): z.ZodObject {
  return strictly(schema) as z.ZodObject
}

function strictly(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodObject) {
    const { def } = schema
    const shape = Object.fromEntries(Object.entries(def.shape).map(([field, part]) => [field, strictly(part)]))
    return kept(schema, { ...def, shape, catchall: def.catchall ?? z.never() })
  }
  if (schema instanceof z.ZodArray) return kept(schema, { ...schema.def, element: strictly(schema.def.element) })
  if (schema instanceof z.ZodRecord) return kept(schema, { ...schema.def, valueType: strictly(schema.def.valueType) })
  if (schema instanceof z.ZodUnion) return kept(schema, { ...schema.def, options: schema.def.options.map(strictly) })
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  ) {
    return kept(schema, { ...schema.def, innerType: strictly(schema.def.innerType) })
  }
  return schema
}

/** Clones a schema with another definition, and keeps its description. */
function kept<T extends z.ZodType>(schema: T, def: object): z.ZodType {
  const clone = schema.clone(def as never)
  const metadata = z.globalRegistry.get(schema)
  return metadata === undefined ? clone : clone.meta(metadata)
}
