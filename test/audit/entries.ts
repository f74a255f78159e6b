import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { type AuditEntry, createAudit } from '../../src/audit/audit-log.ts'
import { type JsonlSinkOptions, jsonlSink } from '../../src/audit/jsonl-sink.ts'
import { anyCharacter } from '../code-points.ts'

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

/** Creates a directory for an audit file. */
export function temporaryAudit() {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'audit-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  return { directory, file: join(directory, 'audit.jsonl'), remove }
}

/** Records entries in an audit file. Their numbers start at `from`. */
export async function writeEntries(
  file: string,
  count: number,
  from = 0,
  options: JsonlSinkOptions = {},
): Promise<void> {
  const audit = createAudit({ sinks: [jsonlSink(file, { fsync: 'never', ...options })] })
  for (let i = 0; i < count; i++) void audit.record(entry(from + i))
  await audit.close()
}

const text = fc.string({ unit: anyCharacter, maxLength: 20 })
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
