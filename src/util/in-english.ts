import * as z from 'zod/mini'
import english from 'zod/v4/locales/en.js'

const { localeError } = english()

/**
 * Parses with messages in English, which `zod/mini` does not have by itself. A language that the embedding program has
 * configured wins.
 */
export const inEnglish: z.core.ParseContext<z.core.$ZodIssue> = {
  error: (issue) => (z.config().localeError === undefined ? localeError(issue) : undefined),
}
