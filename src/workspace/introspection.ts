import * as z from 'zod/mini'
import { type AuditRecord, HIDDEN_VERSION } from '../audit/audit-log.ts'
import type { RunReport } from '../audit/report.ts'
import { reportMarkdown } from '../audit/report-text.ts'
import { isInPlanMode } from '../call/plan-mode.ts'
import { policyCall, type RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { contentVisibility } from '../call/visible-content.ts'
import { ToolError } from '../errors.ts'
import type { Path } from '../paths/logical-path.ts'
import { defineBuiltinTool } from '../tools/builtin-tool.ts'
import type { Tool } from '../tools/define-tool.ts'

/**
 * Operations that describe the workspace. They have the shape of tools, so that they are evaluated, recorded and limited
 * like any call. They are not listed to models. A rule can deny them by name, `policy` or `report`.
 */

const shared = { input: z.object({}), permission: 'file:info', mutates: false, idempotent: true } as const

/** Returns the policy as data, with the mode and the tools. */
export function policyOperation(workspace: WorkspaceState, run: RunState): Tool {
  return defineBuiltinTool({
    ...shared,
    name: 'policy',
    title: 'Show the policy',
    description: 'The policy of the workspace, its mode and its tools.',
    output: z.object({ text: z.string() }),
    plan: () => [],
    async draft() {
      const mode = isInPlanMode(workspace, run) ? 'plan' : 'act'
      const facts = {
        mode,
        readOnly: workspace.isReadOnly,
        tools: [...workspace.tools.keys()],
        policy: workspace.policy.data,
      }
      return { summary: 'Showed the policy', result: () => ({ text: JSON.stringify(facts, null, 2) }) }
    },
  }) as unknown as Tool
}

/** Returns the report of the run so far, as Markdown and as data, without versions of files that the run must not read. */
export function reportOperation(
  workspace: WorkspaceState,
  run: RunState,
  report: (show: (record: AuditRecord) => AuditRecord) => Promise<RunReport | undefined>,
): Tool {
  const maySee = contentVisibility(workspace, policyCall(run, 'report', {}, undefined))
  const shown = (versions: AuditRecord['oldSha256'] = {}) =>
    Object.fromEntries(
      Object.entries(versions).map(([path, version]) => [
        path,
        maySee(path as Path) ? version : version && HIDDEN_VERSION,
      ]),
    )
  return defineBuiltinTool({
    ...shared,
    name: 'report',
    title: 'Show the report',
    description: 'The report of the run so far.',
    output: z.object({ markdown: z.string(), text: z.string() }),
    plan: () => [],
    async draft() {
      const current = await report((record) => ({
        ...record,
        oldSha256: shown(record.oldSha256),
        newSha256: shown(record.newSha256),
        readSha256: shown(record.readSha256),
      }))
      if (current === undefined) {
        throw new ToolError('NOT_FOUND', 'There is no report: no audit sink keeps its records', {
          hint: 'Ask the user for the report.',
        })
      }
      return {
        summary: 'Showed the report',
        result: () => ({ markdown: reportMarkdown(current), text: JSON.stringify(current, null, 2) }),
      }
    },
  }) as unknown as Tool
}
