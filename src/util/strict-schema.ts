import * as z from 'zod'

/** The strict form of each schema, and of each strict form itself. Conversions are cached by the object. */
const strictForms = new WeakMap<z.core.$ZodType, z.core.$ZodType>()

/**
 * Returns a schema that refuses unknown fields, at any depth. Objects that take any other field stay as they are, and so do
 * the fallbacks of `catch`. A schema always has the same strict form.
 */
export function strictSchema<T extends z.ZodObject>(schema: T): T {
  return strictly(schema) as unknown as T
}

function strictly(schema: z.core.$ZodType): z.core.$ZodType {
  const known = strictForms.get(schema)
  if (known !== undefined) return known
  const parts = strictParts(schema)
  const strict = parts === undefined ? schema : cloneWith(schema, parts)
  strictForms.set(schema, strict)
  strictForms.set(strict, strict)
  return strict
}

/** Returns the parts of a definition that hold other schemas, with their strict forms. Zod reads a `shape` when it needs it. */
function strictParts(schema: z.core.$ZodType): object | undefined {
  if (schema instanceof z.core.$ZodObject) {
    const { def } = schema._zod
    return {
      get shape() {
        return Object.fromEntries(Object.entries(def.shape).map(([field, part]) => [field, strictly(part)]))
      },
      catchall: def.catchall === undefined ? z.never() : strictly(def.catchall),
    }
  }
  if (schema instanceof z.core.$ZodArray) return { element: strictly(schema._zod.def.element) }
  if (schema instanceof z.core.$ZodTuple) {
    const { items, rest } = schema._zod.def
    return { items: items.map(strictly), rest: rest && strictly(rest) }
  }
  if (schema instanceof z.core.$ZodRecord) return { valueType: strictly(schema._zod.def.valueType) }
  if (schema instanceof z.core.$ZodUnion) return { options: schema._zod.def.options.map(strictly) }
  if (schema instanceof z.core.$ZodIntersection) {
    const { left, right } = schema._zod.def
    return { left: strictly(left), right: strictly(right) }
  }
  if (schema instanceof z.core.$ZodLazy) {
    const { getter } = schema._zod.def
    return { getter: () => strictly(getter()) }
  }
  if (schema instanceof z.core.$ZodPipe) {
    const { in: first, out } = schema._zod.def
    // After `preprocess`, the second schema parses the input.
    return { in: strictly(first), out: first instanceof z.core.$ZodTransform ? strictly(out) : out }
  }
  if (
    schema instanceof z.core.$ZodOptional ||
    schema instanceof z.core.$ZodNonOptional ||
    schema instanceof z.core.$ZodNullable ||
    schema instanceof z.core.$ZodDefault ||
    schema instanceof z.core.$ZodPrefault ||
    schema instanceof z.core.$ZodReadonly
  ) {
    return { innerType: strictly(schema._zod.def.innerType) }
  }
  return undefined
}

/** Clones a schema with other parts, and keeps its description. */
function cloneWith(schema: z.core.$ZodType, parts: object): z.core.$ZodType {
  // A getter must stay one: the shape of a recursive schema contains the schema.
  const def = Object.defineProperties({ ...schema._zod.def }, Object.getOwnPropertyDescriptors(parts))
  const clone = z.core.clone(schema, def)
  const metadata = z.globalRegistry.get(schema)
  if (metadata !== undefined) z.globalRegistry.add(clone, metadata)
  return clone
}
