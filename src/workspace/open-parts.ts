import type { Check } from '../call/state/checks.ts'
import { inactiveTaintTracker } from '../call/state/taint-tracker.ts'
import { builtinToolRunner, type ToolRunner } from '../call/state/tool-runner.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { ToolError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import { presetPolicy } from '../policy/evaluation.ts'
import { type PresetName, presetNames } from '../policy/presets.ts'
import type { PolicyData } from '../policy/schema.ts'
import { noLabels } from '../policy/taint.ts'
import type { Processes } from '../shells/shared/background-processes.ts'
import type { Shell } from '../shells/types.ts'
import type { Tool } from '../tools/define-tool.ts'
import { checkOptions, OptionError, type OptionTable } from '../util/check-options.ts'
import type { OpenDialect } from './dialect-run.ts'
import type { OpenPolicy } from './open-policy-object.ts'
import { misplacedLimits, type StateOptions } from './options.ts'

/** Parts of a workspace whose code is loaded before its first call, if its options need it. */

/**
 * Opens the policy of a workspace. Only a policy object needs the code that parses policies.
 *
 * @throws TypeError with the name of the invalid field and the expected value
 */
export async function openPolicy(input: unknown, dialect: OpenDialect | undefined): Promise<OpenPolicy> {
  if (presetNames.includes(input as PresetName)) {
    return { policy: presetPolicy(input as PresetName), memory: undefined, requireKnownTools() {} }
  }
  const { openPolicyObject } = await import('./open-policy-object.ts')
  return openPolicyObject(input, dialect)
}

/**
 * Checks the options of `createWorkspace`.
 *
 * @throws TypeError for a wrong option; for one that belongs into the policy, with its place there
 */
export async function checkWorkspaceOptions<T extends object>(options: unknown, table: OptionTable<T>): Promise<T> {
  try {
    return checkOptions<T>('createWorkspace()', options, { ...misplacedLimits, ...table })
  } catch (error) {
    const name = error instanceof OptionError ? error.unknownOption : undefined
    if (name === undefined) throw error
    const { placeOfWorkspaceOption } = await import('./open-policy-object.ts')
    const place = placeOfWorkspaceOption(name)
    throw place === undefined ? error : new OptionError(`Option "${name}" of createWorkspace() is unknown${place}`)
  }
}

/**
 * Refuses an option that has no effect beside another one. Most workspaces have no such option.
 *
 * @param tools the names of the set of tools
 * @throws TypeError that names the option, and what to do
 */
export async function requireNoIdleOptions(options: StateOptions, tools: readonly string[]): Promise<void> {
  const { shell, checks, keepCwd, mode } = options
  if (shell || checks || keepCwd || mode) (await import('./idle-options.ts')).refuseIdleOptions(options, tools)
}

/** Opens the labels of a policy. Their code is loaded for a policy that has labels. */
export async function openLabels({ labels }: PolicyData): Promise<Pick<WorkspaceState, 'labels' | 'openTaintTracker'>> {
  if (labels === undefined) return { labels: noLabels, openTaintTracker: () => inactiveTaintTracker }
  const { compileLabels, openTaintTracker } = await import('../call/label-tracking.ts')
  return { labels: compileLabels(labels), openTaintTracker }
}

/** Returns a function that creates the background commands of a run. Without a shell, a run has none. */
export async function openBackgroundCommands(
  shell: Shell | undefined,
  { processes }: Limits,
): Promise<WorkspaceState['openProcesses']> {
  if (shell === undefined) return () => noProcesses
  const { createProcesses } = await import('../shells/shared/background-processes.ts')
  return (started) => createProcesses(processes, started)
}

/** The background commands of a workspace without a shell, where no tool starts one. */
const noProcesses: Processes = {
  requireRoom: refuseWithoutShell,
  add: refuseWithoutShell,
  get: refuseWithoutShell,
  async close() {},
}

function refuseWithoutShell(): never {
  throw new ToolError('SHELL_UNAVAILABLE', 'This workspace has no shell')
}

/**
 * Opens the checks of a workspace. Their code is loaded for a workspace that has some.
 *
 * @throws TypeError for an invalid check
 */
export async function openChecks(checks: readonly Check[] = []): Promise<WorkspaceState['checks']> {
  if (checks.length === 0) return undefined
  return (await import('../call/checks/open-checks.ts')).openChecks(checks)
}

/** The own tools of a workspace. */
export interface OpenOwnTools {
  readonly names: ReadonlySet<string>
  runnerOf(tool: Tool): ToolRunner
}

/**
 * Opens the own tools of a workspace. The code that checks what they return is loaded for a workspace that has some.
 *
 * @throws TypeError for an invalid definition
 */
export async function openOwnTools(extraTools: readonly Tool[], { hookTimeoutMs }: Limits): Promise<OpenOwnTools> {
  if (extraTools.length === 0) return { names: new Set(), runnerOf: () => builtinToolRunner }
  const { createOwnToolRunner, requireToolNames } = await import('../call/own-tools.ts')
  const names = requireToolNames(extraTools)
  const own = createOwnToolRunner(hookTimeoutMs)
  const tools: ReadonlySet<Tool> = new Set(extraTools)
  return { names, runnerOf: (tool) => (tools.has(tool) ? own : builtinToolRunner) }
}
