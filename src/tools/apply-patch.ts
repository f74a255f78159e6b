import * as z from 'zod/mini'
import { memoizeAsync } from '../util/memoize-async.ts'
import { defineBuiltinTool } from './builtin-tool.ts'
import { reason, sha256Field } from './shared/fields.ts'

const input = z.strictObject({
  patch: z.string(),
  expectedSha256s: z.optional(
    z.record(z.string(), z.nullable(sha256Field)).check(z.describe('By path; null: the file must not exist')),
  ),
  expectedBaseCommit: z.optional(
    z
      .string()
      .check(z.regex(/^[0-9a-f]{8,64}$/, 'must be a commit id in lowercase hex, or its first 8 or more digits')),
  ),
  dryRun: z._default(z.boolean(), false),
  reason,
})

const output = z.object({
  applied: z.boolean(),
  filesTouched: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(['create', 'modify', 'delete']),
      oldSha256: z.nullable(z.string()),
      newSha256: z.nullable(z.string()),
    }),
  ),
  insertions: z.number(),
  deletions: z.number(),
  newWorkspaceDiffSha256: z
    .nullable(z.string())
    .check(
      z.describe(
        'diffSha256 of diff_workspace after this; null after a dry run, over 12 MiB, or if diff_workspace is not allowed',
      ),
    ),
})

/** What parses and applies patches is loaded with the first one. */
const loadPatchCall = memoizeAsync(() => import('./shared/patch-call.ts'))

/** Applies a patch to one or many files, all or none. */
export const applyPatch = defineBuiltinTool({
  name: 'apply_patch',
  title: 'Apply patch',
  description:
    'Apply a patch to one or many files, all or none: a unified diff (a/ and b/ before names), or *** Begin Patch to *** End Patch. Context must match exactly; an offset is fine.',
  input,
  output,
  permission: 'file:patch:apply',
  mutates: true,
  idempotent: false,
  plan: async (input) => (await loadPatchCall()).planPatchCall(input),
  draft: async (input, context) => (await loadPatchCall()).draftPatchCall(input, context),
})
