import * as z from 'zod/mini'
import { metadataOf, type ObjectSchema, zodObject } from './object-schema.ts'

/** The strict form of each schema, and of each strict form itself. Conversions are cached by the object. */
const strictForms = new WeakMap<z.core.$ZodType, z.core.$ZodType>()

/**
 * Returns a schema that refuses unknown fields, at any depth. Objects that take any other field stay as they are, and so do
 * the fallbacks of `catch`. A schema always has the same strict form.
 */
export function strictSchema<T extends ObjectSchema>(schema: T): T {
  return strictly(zodObject(schema)) as unknown as T
}

function strictly(schema: z.core.$ZodType): z.core.$ZodType {
  const cached = strictForms.get(schema)
  if (cached !== undefined) return cached
  const parts = strictParts(schema)
  const strict = parts === undefined ? schema : cloneWith(schema, parts)
  strictForms.set(schema, strict)
  strictForms.set(strict, strict)
  return strict
}

/** Returns the parts of a definition that hold other schemas, with their strict forms. Zod reads a `shape` when it needs it. */
function strictParts(schema: z.core.$ZodType): object | undefined {
  if (isSchema(schema, '$ZodObject')) {
    const { def } = schema._zod
    return {
      get shape() {
        return Object.fromEntries(Object.entries(def.shape).map(([field, part]) => [field, strictly(part)]))
      },
      catchall: def.catchall === undefined ? z.never() : strictly(def.catchall),
    }
  }
  if (isSchema(schema, '$ZodArray')) return { element: strictly(schema._zod.def.element) }
  if (isSchema(schema, '$ZodTuple')) {
    const { items, rest } = schema._zod.def
    return { items: items.map(strictly), rest: rest && strictly(rest) }
  }
  if (isSchema(schema, '$ZodRecord')) return { valueType: strictly(schema._zod.def.valueType) }
  if (isSchema(schema, '$ZodUnion')) return { options: schema._zod.def.options.map(strictly) }
  if (isSchema(schema, '$ZodIntersection')) {
    const { left, right } = schema._zod.def
    return { left: strictly(left), right: strictly(right) }
  }
  if (isSchema(schema, '$ZodLazy')) {
    const { getter } = schema._zod.def
    return { getter: () => strictly(getter()) }
  }
  if (isSchema(schema, '$ZodPipe')) {
    const { in: first, out } = schema._zod.def
    // After `preprocess`, the second schema parses the input.
    return { in: strictly(first), out: isSchema(first, '$ZodTransform') ? strictly(out) : out }
  }
  if (
    isSchema(schema, '$ZodOptional') ||
    isSchema(schema, '$ZodNonOptional') ||
    isSchema(schema, '$ZodNullable') ||
    isSchema(schema, '$ZodDefault') ||
    isSchema(schema, '$ZodPrefault') ||
    isSchema(schema, '$ZodReadonly')
  ) {
    return { innerType: strictly(schema._zod.def.innerType) }
  }
  return undefined
}

/** Clones a schema with other parts, and keeps its description. */
function cloneWith(schema: z.core.$ZodType, parts: object): z.core.$ZodType {
  // A getter must stay one: the shape of a recursive schema contains the schema.
  const def = Object.defineProperties({ ...schema._zod.def }, Object.getOwnPropertyDescriptors(parts))
  const clone = z.clone(schema, def)
  const metadata = metadataOf(schema)
  if (metadata !== undefined) z.globalRegistry.add(clone, metadata)
  return clone
}

type Core = typeof z.core
type SchemaOf<K extends keyof Core> = Core[K] extends z.core.$constructor<infer T> ? Extract<T, z.core.$ZodType> : never

/** Like `instanceof` of a class of `z.core`, whose use would load all of it. */
export function isSchema<K extends keyof Core>(schema: z.core.$ZodType, kind: K): schema is SchemaOf<K> {
  return schema._zod.traits.has(kind)
}

/** Returns the fields of a schema, at any depth. */
export function fieldNamesOf(schema: ObjectSchema): ReadonlySet<string> {
  const names = new Set<string>()
  const seen = new Set<z.core.$ZodType>()
  const visit = (part: z.core.$ZodType): void => {
    if (seen.has(part)) return
    seen.add(part)
    if (isSchema(part, '$ZodObject')) {
      for (const [name, field] of Object.entries(part._zod.def.shape)) {
        names.add(name)
        visit(field)
      }
    }
    if (isSchema(part, '$ZodArray')) visit(part._zod.def.element)
    if (isSchema(part, '$ZodRecord')) visit(part._zod.def.valueType)
    innerSchemas(part).forEach(visit)
  }
  visit(zodObject(schema))
  return names
}

/** Returns the schemas that parse the same value as a schema which contains them. */
export function innerSchemas(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (isSchema(schema, '$ZodUnion')) return schema._zod.def.options
  if (isSchema(schema, '$ZodIntersection')) return [schema._zod.def.left, schema._zod.def.right]
  if (isSchema(schema, '$ZodPipe')) return [schema._zod.def.in, schema._zod.def.out]
  if (isSchema(schema, '$ZodLazy')) return [schema._zod.innerType]
  const { innerType } = schema._zod.def as { innerType?: z.core.$ZodType }
  return innerType === undefined ? [] : [innerType]
}
