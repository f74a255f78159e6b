import * as z from 'zod/mini'
import type { Limits } from '../../limits.ts'
import { type ObjectSchema, zodObject } from '../../util/object-schema.ts'
import { isSchema } from '../../util/strict-schema.ts'
import type { DialectTool } from './types.ts'

/** Returns the input schema of a tool, with the limits that a workspace sets as the defaults of its fields. */
export function withLimits({ input, limits: fields = {} }: DialectTool, limits: Partial<Limits>): ObjectSchema {
  const changes: Record<string, z.core.$ZodType> = {}
  for (const [field, source] of Object.entries(fields)) {
    const [limit, factor] = typeof source === 'string' ? [source, 1] : source
    const value = limits[limit]
    const schema = input.shape[field] as z.core.$ZodType | undefined
    if (value === undefined || schema === undefined) continue
    changes[field] = z._default(isSchema(schema, '$ZodDefault') ? schema._zod.def.innerType : schema, value / factor)
  }
  if (Object.keys(changes).length === 0) return input
  const { def } = zodObject(input)._zod
  return z.object({ ...def.shape, ...changes }) as unknown as ObjectSchema
}
