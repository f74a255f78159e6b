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

/** Error codes of refusals that apply to agents but not to the owner of the files. */
export const ownersOnly: ReadonlySet<string> = new Set([
  'READ_ONLY',
  'PLAN_MODE',
  'POLICY_DENIED',
  'POLICY_DENIED_SECRET',
  'TAINT_DENIED',
])
