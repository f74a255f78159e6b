import * as z from 'zod/mini'
import type { RunReport } from '../audit/report.ts'
import { reportMarkdown } from '../audit/report-text.ts'
import { isInPlanMode } from '../call/plan-mode.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { ToolError } from '../errors.ts'
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

/** Returns the report of the run so far, as Markdown and as data. */
export function reportOperation(report: () => Promise<RunReport | undefined>): Tool {
  return defineBuiltinTool({
    ...shared,
    name: 'report',
    title: 'Show the report',
    description: 'The report of the run so far.',
    output: z.object({ markdown: z.string(), text: z.string() }),
    plan: () => [],
    async draft() {
      const current = await report()
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
