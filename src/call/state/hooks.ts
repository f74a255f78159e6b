import type { GuardedAccess } from '../../policy/access.ts'

/** Hooks of one kind run in order; each receives the call or result returned by the previous one. */
export interface Hooks {
  readonly preToolCall?: PreToolCall | readonly PreToolCall[]
  readonly postToolResponse?: PostToolResponse | readonly PostToolResponse[]
}

/** A call as a hook receives it, frozen. */
export interface HookCall {
  readonly runId: string
  readonly actor: string
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly accesses: readonly GuardedAccess[]
}

/** A success as the model would receive it. */
export type HookResult = Readonly<Record<string, unknown>>

/** `undefined` leaves the result unchanged. */
export type HookAnswer = undefined | HookResult

/** `undefined` lets the call go on, `refuse` ends it, and `input` replaces its input, which is authorized from step 1. */
export type PreHookAnswer = undefined | { readonly refuse: string } | { readonly input: unknown }

/** Runs after the policy verdict and before the draft. A hook that takes longer than `hookTimeoutMs` fails the call with `HOOK_FAILED`. */
export type PreToolCall = (call: HookCall) => PreHookAnswer | Promise<PreHookAnswer>

/** May return another result, relabelled or redacted. The effect of the call stands. */
export type PostToolResponse = (call: HookCall & { readonly result: HookResult }) => HookAnswer | Promise<HookAnswer>
