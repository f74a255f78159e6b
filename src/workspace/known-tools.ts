import type { Dialect } from '../dialects/runtime/types.ts'
import type { KnownTool } from '../policy/known-tools.ts'
import type { Tool } from '../tools/define-tool.ts'
import { toolFields } from '../tools/tool-fields.ts'

/** The operations of a workspace that policy evaluates like tools, with their input fields. No agent can call them. */
const operationFields: Readonly<Record<string, string>> = {
  undo: 'callId reason',
  rollback: 'checkpoint runId reason',
  commit: 'reason',
  git_checkout: '',
  git_push: 'url ref commit force',
  git_add: '',
  batch: '',
  policy: '',
  report: '',
}

/** Returns the tools of a table with their fields as words. */
function toolsOf(table: Readonly<Record<string, string>>, isListed: boolean): readonly KnownTool[] {
  return Object.entries(table).map(([name, fields]) => ({
    name,
    fields: fields.match(/\w+/g) ?? [],
    isListed,
    isOfDialect: false,
  }))
}

/**
 * Returns every tool that a policy may name: the built-in tools, whether or not the workspace has them, its own tools, its
 * operations, and the tools of its dialect, whose `args` are their own and those of the calls that they make.
 */
export function knownTools(extraTools: readonly Tool[], dialect: Dialect | undefined): readonly KnownTool[] {
  const isListed = dialect === undefined
  const workspaceTools: readonly KnownTool[] = [
    ...toolsOf(toolFields, isListed),
    ...extraTools.map(({ name, input }) => ({ name, fields: Object.keys(input.shape), isListed, isOfDialect: false })),
  ]
  const fieldsOf = (name: string) => workspaceTools.filter((tool) => tool.name === name).flatMap(({ fields }) => fields)
  const dialectTools = (dialect?.tools ?? []).flatMap(({ name, formerNames = [], input, uses, mayUse = [] }) => {
    const fields = [...new Set([...Object.keys(input.shape), ...[...uses, ...mayUse].flatMap(fieldsOf)])]
    const names = [name, ...formerNames]
    return names.map((alias): KnownTool => ({ name: alias, fields, isListed: alias === name, isOfDialect: true }))
  })
  return [...workspaceTools, ...toolsOf(operationFields, false), ...dialectTools]
}
