import { namesOf } from '../dialects/runtime/translate-error.ts'
import type { Dialect } from '../dialects/runtime/types.ts'
import { builtinTools } from '../tools/index.ts'
import type { DialectWorkspace, Workspace } from '../workspace/create-workspace.ts'

/** What a call with a permission leaves to later calls, which a process with a single call does not make. */
const lasting: Readonly<Partial<Record<string, (runner?: string) => string>>> = {
  'command:background': (runner) =>
    `a background command ends with this process; ${runner ?? 'run_command'} in the foreground runs a line to its end, and background commands need wardspace mcp`,
  'plan:submit': () => 'an approved plan counts only in this process; plans need wardspace mcp --plan',
}

/**
 * Refuses a call whose effect would end with this process, before it is made.
 *
 * @throws TypeError that says what to use
 */
export async function requireLastingEffect(
  workspace: Workspace | DialectWorkspace,
  dialect: Dialect | undefined,
  name: string,
  input: unknown,
): Promise<void> {
  const tool = dialect?.tools.find((one) => namesOf(one).includes(name))
  const certain = dialect === undefined ? [name] : (tool?.uses ?? [])
  // Only some inputs of a dialect's tool start a background command.
  const explained = tool?.mayUse === undefined ? undefined : await workspace.explainTool(name, input)
  const possible = explained?.ok === true ? explained.accesses.map(({ permission }) => permission) : []
  const runner = dialect?.tools.find(({ uses }) => uses.includes('run_command'))?.name
  // A tool that is not there has its own refusal.
  const isKnown = workspace.tools.some((one) => one.name === (tool?.name ?? name))
  for (const permission of isKnown ? [...certain.map(permissionOf), ...possible] : []) {
    const problem = lasting[permission]?.(runner)
    if (problem !== undefined) throw new TypeError(`${name} has no effect here: ${problem}`)
  }
}

/**
 * Refuses to allow a parked call whose effect would end with this process.
 *
 * @throws TypeError
 */
export function requireLastingApproval(tool: string): void {
  const problem = lasting[permissionOf(tool)]?.()
  if (problem !== undefined) {
    throw new TypeError(`${tool} cannot be allowed here: ${problem}. Deny it with a reason`)
  }
}

function permissionOf(tool: string): string {
  return builtinTools.find(({ name }) => name === tool)?.permission ?? ''
}
