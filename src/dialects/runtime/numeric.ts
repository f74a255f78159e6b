import * as z from 'zod/mini'

/** Returns a schema that also takes a number as decimal text, which models write as well. */
export function numeric<S extends z.ZodMiniType>(schema: S) {
  return z.pipe(
    z.transform((value) => (typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value)),
    schema,
  )
}
