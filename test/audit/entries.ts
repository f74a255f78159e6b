import fc from 'fast-check'
import type { AuditEntry } from '../../src/audit/audit-log.ts'

/** An audit entry like one of the pipeline. */
export function entry(number: number, more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    phase: 'intent',
    runId: 'run',
    toolCallId: `run-${number}`,
    toolName: 'write_file',
    actor: 'agent',
    timestamp: 1_700_000_000_000 + number,
    pathsRead: [],
    pathsWritten: ['a.ts'],
    oldSha256: { 'a.ts': null },
    newSha256: {},
    policyDecision: { decision: 'allow', rules: [{ name: 'autonomous', action: 'allow' }] },
    artifactUris: [],
    ...more,
  }
}

const text = fc.string({ unit: 'binary', maxLength: 20 })
const versions = fc
  .array(fc.tuple(fc.oneof(text, fc.constantFrom('__proto__', '10', '9', 'constructor')), fc.option(text)), {
    maxLength: 4,
  })
  .map((pairs) => Object.fromEntries(pairs))

export const entries: fc.Arbitrary<AuditEntry> = fc
  .record(
    {
      phase: fc.constantFrom('intent' as const, 'outcome' as const, 'refused' as const),
      stepId: text,
      toolName: text,
      actor: text,
      timestamp: fc.integer({ min: 0, max: 4_000_000_000_000 }),
      pathsRead: fc.array(text, { maxLength: 3 }),
      pathsWritten: fc.array(text, { maxLength: 3 }),
      oldSha256: versions,
      newSha256: versions,
      durationMs: fc.nat(),
      code: text,
    },
    {
      requiredKeys: ['phase', 'toolName', 'actor', 'timestamp', 'pathsRead', 'pathsWritten', 'oldSha256', 'newSha256'],
    },
  )
  .map((more) => entry(0, more))
