import type { PolicyInput } from 'wardspace'

/** Policy for the owner of the files: allows everything that a policy can allow. */
export const ownerPolicy: PolicyInput = {
  preset: 'autonomous',
  rules: [
    {
      name: 'the owner of the files',
      action: 'allow',
      overrides: ['secret', 'generated', 'vendored', 'lockfile', 'binary', 'mode'],
    },
  ],
}

/** Policy for the person's commands and calls: refuses only what the built-in protections of files refuse. */
export const personPolicy: PolicyInput = 'autonomous'

/** Error codes of refusals that apply to agents but not to the owner of the files. */
export const ownersOnly: ReadonlySet<string> = new Set([
  'READ_ONLY',
  'PLAN_MODE',
  'POLICY_DENIED',
  'POLICY_DENIED_SECRET',
  'COMMAND_DENIED',
  'TAINT_DENIED',
])
