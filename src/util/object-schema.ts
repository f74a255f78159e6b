import * as z from 'zod/mini'
import english from 'zod/v4/locales/en.js'

/** An object schema of Zod, from `zod` or `zod/mini`. */
export type ObjectSchema = z.core.$ZodObject<z.core.$ZodLooseShape, z.core.$ZodObjectConfig> & {
  readonly shape: z.core.$ZodShape
  /** Returns the checked object. Throws if the value does not match. */
  parse(value: unknown, context?: z.core.ParseContext<z.core.$ZodIssue>): Record<string, unknown>
  /** Returns the checked object, or the error. */
  safeParse(
    value: unknown,
    context?: z.core.ParseContext<z.core.$ZodIssue>,
  ): z.core.util.SafeParseResult<Record<string, unknown>>
  /** As `safeParse`, for schemas with asynchronous checks. */
  safeParseAsync(
    value: unknown,
    context?: z.core.ParseContext<z.core.$ZodIssue>,
  ): Promise<z.core.util.SafeParseResult<Record<string, unknown>>>
}

const { localeError } = english()

/**
 * Parses with messages in English, which `zod/mini` does not have by itself. A language that the embedding program has
 * configured wins.
 */
export const inEnglish: z.core.ParseContext<z.core.$ZodIssue> = {
  error: (issue) => (z.config().localeError === undefined ? localeError(issue) : undefined),
}
