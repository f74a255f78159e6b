import type { PolicyInput } from 'wardspace'

/** The person's own hand: nothing is refused but what no policy opens. */
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

/** Refusals that hold for agents, and not for whom the files belong to. */
export const ownersOnly: ReadonlySet<string> = new Set([
  'READ_ONLY',
  'PLAN_MODE',
  'POLICY_DENIED',
  'POLICY_DENIED_SECRET',
  'TAINT_DENIED',
])
