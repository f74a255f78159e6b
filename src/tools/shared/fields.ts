import * as z from 'zod/mini'

/** Input fields that several tools share, with the same name, bounds and description. */

export const pathField = z.string()

export const filePath = pathField.check(z.describe('Path relative to the workspace root'))

export const directoryPath = z._default(pathField, '.')

export const sha256Field = z
  .string()
  .check(
    z.regex(/^[0-9a-f]{8,64}$/, 'must be a sha256 in lowercase hex, or its first 8 or more digits'),
    z.describe('sha256 of the version you read'),
  )

export const expectedSha256 = z.optional(
  z.nullable(sha256Field).check(z.describe('sha256 of the version you read; null: the file must not exist')),
)

export const reason = z.optional(z.string().check(z.maxLength(2000)))

const refusal = z.object({ permission: z.string(), path: z.string(), code: z.string(), message: z.string() })

/** A field of a result: what a command was refused. */
export const refused = z.optional(z.array(refusal))

export const filters = {
  includeHidden: z._default(z.boolean(), false),
  includeIgnored: z._default(
    z.boolean().check(z.describe('Also what .gitignore names, node_modules, target, build, dist')),
    false,
  ),
}

/** Result fields that describe a changed file. */
export const versions = {
  path: z.string(),
  oldSha256: z.nullable(z.string()),
  newSha256: z.nullable(z.string()),
}
