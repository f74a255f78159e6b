import * as z from 'zod/mini'

/**
 * An object schema of any release of Zod 4, from `zod` or `zod/mini`. It describes the parts that all releases have in
 * common, so the schema can come from another copy of Zod than the one that Wardspace contains. It is also a Standard Schema.
 */
export interface ObjectSchema {
  /** The fields, each with its schema. */
  readonly shape: Readonly<Record<string, object>>
  /** Returns the parsed value. @throws an error with `issues` if the value does not match */
  parse(value: unknown, context?: SchemaParseOptions): Record<string, unknown>
  /** Returns the parsed value or the issues. */
  safeParse(value: unknown, context?: SchemaParseOptions): SchemaParseResult
  /** Returns the parsed value or the issues, also of a schema with asynchronous refinements. */
  safeParseAsync(value: unknown, context?: SchemaParseOptions): Promise<SchemaParseResult>
  /** The interface of Standard Schema. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    /** Returns the parsed value or the issues. */
    readonly validate: (value: unknown) => StandardSchemaResult | Promise<StandardSchemaResult>
  }
  /** Zod's description of the schema, with the types of the value before and after parsing. */
  readonly _zod: {
    readonly def: { readonly type: 'object' }
    readonly input: Record<string, unknown>
    readonly output: Record<string, unknown>
  }
}

/** Options of one parsing of an {@link ObjectSchema}. */
export interface SchemaParseOptions {
  /** Returns the message of an issue. `undefined` keeps the default message. */
  readonly error?: (issue: never) => string | { readonly message: string } | null | undefined
}

/** Result of parsing with an {@link ObjectSchema}: the value, or an error with the issues. */
export type SchemaParseResult =
  | { readonly success: true; readonly data: Record<string, unknown>; readonly error?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly error: { readonly issues: readonly SchemaIssue[] } }

/** One part of a value that does not match an {@link ObjectSchema}. */
export interface SchemaIssue {
  readonly code: string
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Result of the `validate` of Standard Schema: the value or the issues. */
export type StandardSchemaResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] }

/** Returns an object schema with the types of our copy of Zod. All releases of Zod 4 have the same definitions of schemas. */
export function zodObject(schema: ObjectSchema): z.core.$ZodObject {
  return schema as unknown as z.core.$ZodObject
}

/** Returns the description of a schema. Early releases of Zod 4 have a registry for each copy, which only the schema can read. */
export function metadataOf(schema: z.core.$ZodType): z.core.GlobalMeta | undefined {
  return z.globalRegistry.get(schema) ?? (schema as { meta?(): z.core.GlobalMeta | undefined }).meta?.()
}
