import * as z from 'zod'
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
    plan: z.string().min(1).max(20_000).regex(/\S/, 'must not be blank').describe('Your plan, in Markdown'),
    paths: z.array(z.string().min(1).max(4096)).min(1).max(1000).optional().describe('Globs of the paths to change'),
    reason,
  }),
  output: z.object({
    approved: z.literal(true),
    paths: z.array(z.string()).optional(),
    planUri: z.string().optional(),
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
