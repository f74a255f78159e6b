import type { Success } from '../call/state/call.ts'
import { type DialectResult, isDialectResult } from '../dialects/runtime/types.ts'
import type { ErrorCode, Failure } from '../errors.ts'
import { isOfProgram, knownSentences } from '../util/hint-names.ts'
import type { WorkspaceValues } from './parse-words.ts'

type CallResult = Success | Failure | DialectResult

/** Returns a result whose hint names no option of the library. */
export function inCommandLineWords<R extends { readonly ok: boolean }>(result: R | Failure): R | Failure {
  if (result.ok) return result
  const failure = result as Failure
  return { ...failure, hint: commandLineHint(failure.hint) || 'Do not repeat the call as it is.' }
}

/** Returns the sentences of a hint that name no option of the library, or `''` when there is none. */
export function commandLineHint(hint: string): string {
  return knownSentences(hint, (name) => !isOfProgram(name))
}

/** Returns what a person of the command line can do about a refused call: the options to add or to leave out. */
export function adviceFor(result: CallResult, values: Partial<WorkspaceValues>): string | undefined {
  const failure = isDialectResult(result) ? result.failure : result.ok ? undefined : (result as Failure)
  return failure === undefined ? undefined : advice[failure.code]?.(values, failure)
}

const advice: Partial<Record<ErrorCode, (values: Partial<WorkspaceValues>, failure: Failure) => string | undefined>> = {
  SHELL_UNAVAILABLE: ({ shell }) => (shell === undefined ? 'Commands need a shell: --shell bash' : undefined),
  APPROVAL_REQUIRED: ({ parked }) =>
    parked === undefined
      ? 'Nobody was asked: --ask asks on stderr, and --parked DIR keeps the call for wardspace approve'
      : undefined,
  PLAN_MODE: ({ plan }) => (plan === true ? 'Changes need a call without --plan' : undefined),
  UNKNOWN_TOOL: () => 'The tools are listed by: wardspace tools',
  // The next two: earlier calls were runs of their own.
  NOT_FOUND: (_, { message }) =>
    message.includes('"artifact://')
      ? 'An artifact ends with the process of its call: wardspace mcp keeps them'
      : undefined,
  WRITE_CONFLICT: (_, { message, currentSha256 }) =>
    message.includes('was never read') && typeof currentSha256 === 'string'
      ? `A single call has read nothing before: add "expectedSha256": "${currentSha256}" to change this version`
      : undefined,
  READ_ONLY: (values) => (values['read-only'] === true ? 'Changes need a call without --read-only' : undefined),
}
