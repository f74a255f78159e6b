import { callOptionTable, checkCallOptions } from '../call/call-options.ts'
import { refuseUncalled } from '../call/refuse-uncalled.ts'
import type { CallOptions } from '../call/state/call.ts'
import type { RunState } from '../call/state/run-state.ts'
import type { WorkspaceState } from '../call/state/workspace-state.ts'
import { type Failure, toFailure } from '../errors.ts'
import { isText, type OptionTable } from '../util/check-options.ts'
import type { RecordedStep, Recorder } from './recorder.ts'
import type { OperationOptions, RollbackOptions, UndoOptions } from './types.ts'

/** A step of a run, as it is recorded. */
export type Step = Pick<RecordedStep, 'type' | 'name' | 'input' | 'refusedOptions'>

/** The run of a step. */
export interface StepContext {
  readonly workspace: WorkspaceState
  readonly run: RunState
  readonly recorder: Recorder | undefined
}

const { media: _media, onProgress: _onProgress, ...operationOptionTable } = callOptionTable

/** The options of `consult()`: it shows no media, and reports no progress. */
export const operationOptions: OptionTable<OperationOptions> = operationOptionTable

/** The options of `undo()`, and of `rollback()` of a run. */
export const undoOptionTable: OptionTable<UndoOptions> = { ...operationOptionTable, reason: isText }

/** Runs an action of a run, and records it as a step if the workspace has a recorder. */
export function recordStep<R>(
  { recorder, run }: Pick<StepContext, 'recorder' | 'run'>,
  step: Step,
  options: CallOptions,
  act: (options: CallOptions) => Promise<R>,
): Promise<R> {
  return recorder === undefined ? act(options) : recorder.step(run, step, options, act)
}

/**
 * Runs and records an action with the checked options of its caller. Wrong options refuse it, as a step of its own.
 *
 * @param act its second argument has what becomes input of the operation, as far as the table has it and the caller gave it
 */
export function checkedStep<R>(
  context: StepContext,
  step: Step,
  options: unknown,
  table: OptionTable<CallOptions> | OptionTable<UndoOptions> | OptionTable<RollbackOptions>,
  act: (options: CallOptions, input: Pick<RollbackOptions, 'reason' | 'runId'>) => Promise<R>,
): Promise<R | Failure> {
  // Most calls have no options, and nothing to check.
  if (options === undefined && context.recorder === undefined) return act({}, {})
  return checkStep(context, step, options, table, act)
}

async function checkStep<R>(
  ...[context, step, options, table, act]: Parameters<typeof checkedStep<R>>
): Promise<R | Failure> {
  let checked: RollbackOptions
  try {
    checked = checkCallOptions<RollbackOptions>(`${step.type}()`, options, table as OptionTable<RollbackOptions>)
  } catch (error) {
    const refused = { ...step, refusedOptions: toFailure(error).message }
    return recordStep(context, refused, {}, () => refuseUncalled(context, step.name ?? step.type, error))
  }
  const { reason, runId, ...callOptions } = checked
  const further = { ...(reason === undefined ? {} : { reason }), ...(runId === undefined ? {} : { runId }) }
  const input = Object.keys(further).length === 0 ? step.input : { ...(step.input as object), ...further }
  return recordStep(context, { ...step, input }, callOptions, (stepOptions) => act(stepOptions, further))
}

/** Returns the name of a tool as text, whatever the caller passed. */
export function toToolName(name: unknown): string {
  return typeof name === 'string' ? name : `(${typeof name})`
}
