import { deskFor } from './command-desk.ts'
import { classifyContent, classifyPath } from './files/classify.ts'
import type { Path } from './paths/logical-path.ts'
import type { JudgedCall } from './pipeline.ts'
import type { CallRecord } from './record.ts'
import { type Core, policyCall, type Run } from './run.ts'
import { sightFor } from './sight.ts'
import type { ToolContext } from './tool.ts'
import { createView } from './vfs/guarded.ts'

/** What a tool may know and use while it drafts one judged call. */
export function contextFor(
  core: Core,
  run: Run,
  call: JudgedCall,
  record: Pick<CallRecord, 'reads' | 'refusedWithin'>,
  signal: AbortSignal | undefined,
): ToolContext {
  return {
    accesses: call.accesses,
    files: createView({
      backend: core.backend,
      accesses: call.accesses,
      documents: core.documents,
      sight: (kind) => sightFor(core.policy, policyCall(run, call.tool.name, call.input), kind, call.verdict),
      signal,
      onRead: record.reads,
    }),
    limits: core.limits,
    signal,
    warnings: [],
    now: core.clock,
    sawWhole: run.ledger.sawWhole,
    staleGuard: core.staleGuard,
    workspaceDiff(wanted) {
      const { see } = sightFor(core.policy, policyCall(run, call.tool.name, call.input), 'diff', call.verdict)
      const policy = core.policy.forCall(policyCall(run, call.tool.name, call.input))
      return core.diffs.diff({
        ...wanted,
        sees: (path) => see(path as Path, 'file'),
        // Who may apply a binary patch may see one.
        withBinary: (path) =>
          policy.decide('file:patch:apply', path, classifyContent(classifyPath(path), BINARY)) === 'allow',
        signal,
      })
    },
    headCommit: core.diffs.headCommit,
    commands: deskFor(core, run, call, record),
    processes: run.shell.processes,
    keepArtifact(name, text) {
      try {
        return run.artifacts.put(name, text)
      } catch {
        return undefined
      }
    },
    readArtifact: (uri) => run.artifacts.read(uri),
  }
}

const BINARY = Uint8Array.of(0)
