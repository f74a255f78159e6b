import { ToolError, withHint } from '../errors.ts'
import { labelNames } from '../policy/labels.ts'
import { isLabel } from '../policy/taint.ts'
import { withTimeout } from '../util/timers.ts'
import type { HookCall, HookResult, Hooks, PreToolCall } from './state/hooks.ts'

/** Returns the pre-call hooks in order. */
export function preHooks({ preToolCall }: Hooks): readonly PreToolCall[] {
  return listOf(preToolCall)
}

/**
 * Runs one pre-call hook. Returns the narrowed input, or `undefined` if the call goes on unchanged. The hook receives a
 * frozen call, so only its answer has an effect.
 *
 * @throws ToolError `POLICY_DENIED` if the hook refuses, `HOOK_FAILED` if it throws, hangs or returns an invalid answer
 */
export async function runPreHook(
  hook: PreToolCall,
  call: HookCall,
  timeoutMs: number,
): Promise<{ input: unknown } | undefined> {
  const answer: unknown = await callHook('preToolCall', () => hook(freezeCall(call)), timeoutMs, 'Nothing was done.')
  if (answer === undefined) return undefined
  if (typeof answer === 'object' && answer !== null) {
    const { refuse, input, ...others } = answer as { refuse?: unknown; input?: unknown }
    // A misspelled refusal beside an input must not let the call go on.
    const isAlone = Object.keys(others).length === 0
    if (typeof refuse === 'string' && /\S/.test(refuse) && input === undefined && isAlone) {
      throw new ToolError('POLICY_DENIED', `Refused by a hook: ${refuse}`)
    }
    if (refuse === undefined && input !== undefined && isAlone) return { input }
  }
  throw hookFailed(
    'preToolCall',
    'returned an invalid answer; expected undefined, { refuse: reason } or { input }',
    'Nothing was done.',
  )
}

/**
 * Lets the post-call hooks change a result. They keep its fields, and cannot change `ok` and `callId`.
 *
 * @throws ToolError `HOOK_FAILED` if a hook throws, hangs, or returns no such object or an unknown label; the effect of the call stands
 */
export async function runPostHooks<R extends HookResult>(
  hooks: Hooks,
  call: HookCall,
  result: R,
  timeoutMs: number,
): Promise<R | HookResult> {
  let current: R | HookResult = result
  for (const hook of listOf(hooks.postToolResponse)) {
    const changed: unknown = await callHook(
      'postToolResponse',
      () => hook({ ...freezeCall(call), result: current }),
      timeoutMs,
      EFFECT_STANDS,
    )
    if (changed === undefined) continue
    if (!isObject(changed)) {
      throw hookFailed('postToolResponse', 'returned an invalid result; expected an object or undefined', EFFECT_STANDS)
    }
    const ineffective = ineffectiveChange(changed, current)
    if (ineffective !== undefined) throw hookFailed('postToolResponse', ineffective, EFFECT_STANDS)
    const { label } = changed as { label?: unknown }
    if (label !== undefined && !isLabel(label)) {
      throw hookFailed(
        'postToolResponse',
        `returned an unknown label; the labels are ${labelNames.join(', ')}`,
        EFFECT_STANDS,
      )
    }
    current = { ...changed, ok: result.ok, callId: result.callId }
  }
  return current
}

/** Returns why a changed result is not one, or would not have the effect that it seems to have. */
function ineffectiveChange(changed: Readonly<Record<string, unknown>>, result: object): string | undefined {
  if ('refuse' in changed && !('refuse' in result))
    return 'returned { refuse }, which only preToolCall can; throw a ToolError'
  for (const [field, value] of Object.entries(result)) {
    if (!(field in changed)) return `returned a result without "${field}"; return { ...result } with the changes`
    if ((field === 'ok' || field === 'callId') && changed[field] !== value) {
      return `cannot change "${field}"; throw a ToolError to withhold the result`
    }
  }
  return undefined
}

const EFFECT_STANDS = 'The effect of the call stands; only its result is withheld.'

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function listOf<T>(hooks: T | readonly T[] | undefined): readonly T[] {
  if (hooks === undefined) return []
  return Array.isArray(hooks) ? (hooks as readonly T[]) : [hooks as T]
}

/** Freezes the call deeply: a hook must not change what was authorized. */
function freezeCall(call: HookCall): HookCall {
  freeze(call.input)
  freeze(call.accesses)
  return Object.freeze(call)
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return
  Object.freeze(value)
  for (const item of Object.values(value)) freeze(item)
}

/** Calls a hook within the time limit. Only a `ToolError` that it throws reaches the caller; others become `HOOK_FAILED`. */
async function callHook<T>(
  name: string,
  hook: () => T | Promise<T>,
  timeoutMs: number,
  consequence: string,
): Promise<T> {
  try {
    return await withTimeout(Promise.resolve().then(hook), timeoutMs, () =>
      hookFailed(name, `did not answer within ${timeoutMs} ms`, consequence),
    )
  } catch (error) {
    if (error instanceof ToolError) throw consequence === EFFECT_STANDS ? withHint(error, EFFECT_STANDS) : error
    throw hookFailed(name, 'failed', consequence)
  }
}

function hookFailed(name: string, reason: string, consequence: string): ToolError {
  return new ToolError('HOOK_FAILED', `The hook ${name} ${reason}`, { hint: `${consequence} Report this to the user.` })
}
