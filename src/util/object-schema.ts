import * as z from 'zod/mini'
import english from 'zod/v4/locales/en.js'

/** An object schema of Zod, from `zod` or `zod/mini`. */
export type ObjectSchema = z.core.$ZodObject<z.core.$ZodLooseShape, z.core.$ZodObjectConfig> & {
  readonly shape: z.core.$ZodShape
  parse(value: unknown, context?: Messages): Record<string, unknown>
  safeParse(value: unknown, context?: Messages): z.core.util.SafeParseResult<Record<string, unknown>>
  safeParseAsync(value: unknown, context?: Messages): Promise<z.core.util.SafeParseResult<Record<string, unknown>>>
}

type Messages = z.core.ParseContext<z.core.$ZodIssue>

const { localeError } = english()

/**
 * Parses with messages in English, which `zod/mini` does not have by itself. A language that the embedding program has
 * configured wins.
 */
export const inEnglish: Messages = {
  error: (issue) => (z.config().localeError === undefined ? localeError(issue) : undefined),
}
