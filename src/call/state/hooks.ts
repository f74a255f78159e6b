import type { GuardedAccess } from '../../policy/access.ts'

/** Of several, each sees what the one before it made of the call or the result. */
export interface Hooks {
  readonly preToolCall?: PreToolCall | readonly PreToolCall[]
  readonly postToolResponse?: PostToolResponse | readonly PostToolResponse[]
}

/** What a hook is told of a call. */
export interface HookCall {
  readonly runId: string
  readonly actor: string
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly accesses: readonly GuardedAccess[]
}

/** A success as the model would be shown it. */
export type HookResult = Readonly<Record<string, unknown>>

/** Nothing leaves the result as it is. */
export type HookAnswer = undefined | HookResult

/** A pre-call hook lets the call go on (nothing), refuses it, or gives another input, which is judged from the start. */
export type PreHookAnswer = undefined | { readonly refuse: string } | { readonly input: unknown }

/** Is asked before a call is judged; within the limit `hookTimeoutMs`, or the call is `HOOK_FAILED`. */
export type PreToolCall = (call: HookCall) => PreHookAnswer | Promise<PreHookAnswer>

/** May give another result, relabelled or redacted. The effect of the call stands. */
export type PostToolResponse = (call: HookCall & { readonly result: HookResult }) => HookAnswer | Promise<HookAnswer>
