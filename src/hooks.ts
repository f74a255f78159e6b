import type { GuardedAccess } from './access.ts'
import { ToolError } from './errors.ts'

/** What a hook is told of a call. */
export interface HookCall {
  readonly runId: string
  readonly actor: string
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly accesses: readonly GuardedAccess[]
}

/** A pre-call hook lets the call go on (nothing), refuses it, or gives another input, which is judged from the start. */
export type PreHookAnswer = undefined | { readonly refuse: string } | { readonly input: unknown }

export interface Hooks {
  readonly preToolCall?: (call: HookCall) => PreHookAnswer | Promise<PreHookAnswer>
  /** May give another result, relabelled or redacted. The effect of the call stands. */
  readonly postToolResponse?: (
    call: HookCall & { readonly result: Readonly<Record<string, unknown>> },
  ) => undefined | Readonly<Record<string, unknown>> | Promise<undefined | Readonly<Record<string, unknown>>>
}

/**
 * Asks the pre-call hook. Gives the narrowed input, or `undefined` where the call goes on as it is.
 *
 * @throws ToolError `POLICY_DENIED` where the hook refuses, `HOOK_FAILED` where it throws or hangs
 */
export async function runPreHook(
  hooks: Hooks,
  call: HookCall,
  timeoutMs: number,
): Promise<{ input: unknown } | undefined> {
  if (hooks.preToolCall === undefined) return undefined
  const answer = await bounded('preToolCall', () => hooks.preToolCall?.(call), timeoutMs, 'Nothing was done.')
  if (answer === undefined) return undefined
  if ('refuse' in answer) throw new ToolError('POLICY_DENIED', `Refused by a hook: ${answer.refuse}`)
  return answer
}

/** Lets the post-call hook change a result. Where it throws or hangs, the result is withheld and the effect stands. */
export async function runPostHook<R extends Readonly<Record<string, unknown>>>(
  hooks: Hooks,
  call: HookCall,
  result: R,
  timeoutMs: number,
): Promise<R | Readonly<Record<string, unknown>>> {
  if (hooks.postToolResponse === undefined) return result
  const changed = await bounded(
    'postToolResponse',
    () => hooks.postToolResponse?.({ ...call, result }),
    timeoutMs,
    'The effect of the call stands; only its result is withheld.',
  )
  return changed ?? result
}

async function bounded<T>(
  name: string,
  hook: () => T | Promise<T>,
  timeoutMs: number,
  consequence: string,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failed(name, `did not answer within ${timeoutMs} ms`, consequence)), timeoutMs)
  })
  try {
    return await Promise.race([Promise.resolve().then(hook), late])
  } catch (error) {
    if (error instanceof ToolError) throw error
    throw failed(name, 'failed', consequence)
  } finally {
    clearTimeout(timer)
  }
}

function failed(name: string, why: string, consequence: string): ToolError {
  return new ToolError('HOOK_FAILED', `The hook ${name} ${why}`, { hint: `${consequence} Tell the person in charge.` })
}
