import * as z from 'zod'
import type { RunReport } from '../audit/report.ts'
import { reportMarkdown } from '../audit/report-text.ts'
import { isInPlanMode } from '../call/plan-mode.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { ToolError } from '../errors.ts'
import { defineBuiltinTool } from '../tools/builtin-tool.ts'
import type { Tool } from '../tools/define-tool.ts'

/**
 * What a workspace tells of itself, in the shape of tools, so that it is judged, recorded and bounded like any call. Models
 * are not told of them; a rule closes one by its name, `policy` or `report`.
 */

const shared = { input: z.object({}), permission: 'file:info', mutates: false, idempotent: true } as const

/** The policy as data, with the mode and the tools. */
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

/** What the run did so far, for people and as data. */
export function reportOperation(report: () => RunReport | undefined): Tool {
  return defineBuiltinTool({
    ...shared,
    name: 'report',
    title: 'Show the report',
    description: 'What the run did so far.',
    output: z.object({ markdown: z.string(), text: z.string() }),
    plan: () => [],
    async draft() {
      const found = report()
      if (found === undefined) {
        throw new ToolError('NOT_FOUND', 'There is no report: no audit sink here keeps its records', {
          hint: 'Read the report where the audit records go.',
        })
      }
      return {
        summary: 'Showed the report',
        result: () => ({ markdown: reportMarkdown(found), text: JSON.stringify(found, null, 2) }),
      }
    },
  }) as unknown as Tool
}
