import * as z from 'zod'

/** Input fields that several tools share, with the same name, bounds and description. */

export const pathField = z.string()

export const filePath = pathField.describe('Path relative to the workspace root')

export const directoryPath = pathField.default('.').describe('Directory to start in')

export const sha256Field = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a sha256 in lowercase hex, as read_file returns it')
  .describe('sha256 of the version you read')

export const expectedSha256 = sha256Field
  .nullable()
  .optional()
  .describe('sha256 of the version you read; null: the file must not exist')

export const reason = z.string().max(2000).optional().describe('Why, for the record')

export const filters = {
  includeHidden: z.boolean().default(false).describe('Include names that start with a dot'),
  includeIgnored: z
    .boolean()
    .default(false)
    .describe('Include files ignored by .gitignore, and node_modules, target, build, dist'),
}

/** Result fields that describe a changed file. */
export const versions = {
  path: z.string(),
  oldSha256: z.string().nullable(),
  newSha256: z.string().nullable(),
}
