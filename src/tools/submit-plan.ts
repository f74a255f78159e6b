import * as z from 'zod/mini'
import { redact } from '../files/secrets/index.ts'
import { compileGlob } from '../paths/glob.ts'
import { defineBuiltinTool } from './builtin-tool.ts'
import { reason } from './shared/fields.ts'

/** Submits a plan for approval. Until it is approved, a workspace in plan mode changes nothing. */
export const submitPlan = defineBuiltinTool({
  name: 'submit_plan',
  title: 'Submit plan',
  description:
    'Submit a plan of your changes and wait for its approval; until then nothing can be changed. Its paths become the scope of the task.',
  input: z.strictObject({
    plan: z
      .string()
      .check(z.minLength(1), z.maxLength(20_000), z.regex(/\S/, 'must not be blank'), z.describe('Markdown')),
    paths: z.optional(
      z
        .array(z.string().check(z.minLength(1), z.maxLength(4096)))
        .check(z.minLength(1), z.maxLength(1000), z.describe('Globs')),
    ),
    reason,
  }),
  output: z.object({
    approved: z.literal(true),
    paths: z.optional(z.array(z.string())),
    planUri: z.optional(z.string()),
  }),
  permission: 'plan:submit',
  mutates: false,
  idempotent: true,
  plan: () => [],
  async draft({ plan, paths }, { keepArtifact }) {
    for (const path of paths ?? []) compileGlob(path)
    const planUri = keepArtifact('plan.md', redact(plan).text)
    const scope = paths === undefined ? {} : { paths }
    return {
      summary: 'The plan is approved: go on by it',
      plan: { text: plan, ...scope },
      result: () => ({ approved: true as const, ...scope, ...(planUri === undefined ? {} : { planUri }) }),
    }
  },
})
