import type { CallOptions, Success } from '../call/state/call.ts'
import type { Failure } from '../errors.ts'
import { checkOptions, isObjectWith, type OptionTable } from '../util/check-options.ts'
import type { Workspace, WorkspaceRun } from '../workspace/types.ts'

/** The files that a controller works on. */
export interface PersonOptions {
  /** The workspace whose changes a controller follows. */
  readonly workspace: Pick<Workspace, 'run' | 'subscribe'>
  /** Makes the calls of the person: by default a run of its own, so that what the person reads is not what the agent has read. */
  readonly run?: Pick<WorkspaceRun, 'callTool'> | undefined
}

/** Makes the calls of a person, which take the same steps as any call. */
export type PersonCall = (tool: string, input: unknown, options?: CallOptions) => Promise<Success | Failure>

const optionChecks = {
  workspace: isObjectWith('a workspace', 'run', 'subscribe'),
  run: isObjectWith('a run', 'callTool'),
}

/**
 * Returns the calls of a person. Who makes a change by hand has approved it, where the run asks nobody else.
 *
 * @param owner the function that takes the options, in messages
 * @param checks of its other options
 * @throws TypeError for wrong options
 */
export function createPersonCall<Options extends PersonOptions>(
  owner: string,
  options: Options,
  checks: Partial<OptionTable<Omit<Options, keyof PersonOptions>>> = {},
): PersonCall {
  const { workspace, run = workspace.run({ actor: 'person' }) } = checkOptions<PersonOptions>(
    owner,
    options,
    { ...optionChecks, ...checks },
    'workspace',
  )
  return (tool, input, options) =>
    run.callTool(tool, input, { approve: () => ({ allow: 'once', by: 'person' }), ...options })
}
