import type { ModelMessage } from 'ai'
import type { PolicyInput } from 'wardspace'
import type { CallableTools } from 'wardspace/ai-sdk'
import type { Script } from 'wardspace/testing/scripted-model'

/** One thing to watch an agent do: a sample project, what it is asked, and the script of the model that does it. */
export interface Scenario {
  readonly id: string
  readonly title: string
  /** One or two sentences for whoever chooses. */
  readonly summary: string
  /** The id of the sample project that it works on. */
  readonly sample: string
  /** What the person asks. */
  readonly prompt: string
  /** How the workspace is opened for it. */
  readonly workspace: { readonly policy: PolicyInput; readonly mode?: 'act' | 'plan' }
  /** What the person may try once it has ended. */
  readonly afterwards?: string
  /** Says what the model says and calls, and nothing of what comes back. */
  readonly script: Script
}

/** Gives the person's key. A function, so that whatever is made into JSON or copied holds no key. */
export type Key = () => string

export type Provider = 'anthropic' | 'openai' | 'compatible'

export type ModelChoice =
  | { readonly kind: 'scripted'; readonly scenario: string }
  | {
      readonly kind: 'endpoint'
      readonly provider: Provider
      /** Needed for `compatible`, such as `http://localhost:11434/v1`; otherwise the provider's own. */
      readonly baseUrl?: string
      readonly model: string
      /** A local server may need none. */
      readonly key?: Key
    }
  | { readonly kind: 'builtin' }

/** What was said and done so far, as plain JSON: given to `createAgent`, the agent goes on from it. */
export interface Conversation {
  readonly messages: readonly ModelMessage[]
  readonly usage: Usage
}

/** Of all steps so far. */
export interface Usage {
  readonly steps: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Milliseconds that the model took, its tools included. */
  readonly ms: number
}

/** What happens while the agent works, in its order. Plain JSON. */
export type AgentEvent =
  /** The model is asked, for the so-manieth time of this turn. */
  | { readonly type: 'step'; readonly step: number }
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  /** The model wants this. `id` is also the `stepId` of its audit records. */
  | { readonly type: 'call'; readonly id: string; readonly tool: string; readonly input: unknown }
  | {
      readonly type: 'result'
      readonly id: string
      readonly tool: string
      readonly ok: boolean
      /** Exactly what the model is shown. */
      readonly seen: unknown
      /** Of the workspace's own call, for `undo` and the audit; left out where there was none. */
      readonly callId?: string
      readonly code?: string
      readonly ms: number
    }
  /** Of the step that has ended, and of all so far. */
  | {
      readonly type: 'usage'
      readonly inputTokens: number
      readonly outputTokens: number
      readonly ms: number
      readonly total: Usage
    }
  /** The conversation has grown: what is to be kept is `agent.conversation`. */
  | { readonly type: 'conversation' }
  | { readonly type: 'error'; readonly message: string; readonly canRetry: boolean }
  | { readonly type: 'done'; readonly reason: DoneReason }

/** `paused`: one step was asked for, and more would follow. `limit`: as many steps as one turn may have. */
export type DoneReason = 'finished' | 'stopped' | 'paused' | 'limit' | 'error'

export interface AgentOptions {
  /** Asked at the beginning of each turn, so that a workspace may be opened anew in between. */
  readonly tools: () => CallableTools
  readonly choice: ModelChoice
  /** Goes on from here. Default: a new one. */
  readonly conversation?: Conversation
  readonly onEvent?: (event: AgentEvent) => void
  /** Steps that one turn may have. Default: 50. */
  readonly maxSteps?: number
  /** Milliseconds that a scripted model takes for a word, so that a person can follow. Default: 0. */
  readonly pace?: number
  /** Reaches endpoints. Default: by the worker that may speak to other origins, since the page may not. */
  readonly fetch?: typeof fetch
}

/** Asks a model, calls the tools that it asks for, and so on. One turn at a time: a method called meanwhile is refused. */
export interface Agent {
  readonly isWorking: boolean
  /** Also in the middle of a step, as far as it got: a call without a result stands as interrupted. */
  readonly conversation: Conversation
  /** Whether there is something to go on with: the turn was stopped, paused, broken or reloaded. */
  readonly canContinue: boolean
  /** Sends the person's words and works until the model has no more to do. */
  send(text: string, options?: TurnOptions): Promise<DoneReason>
  /** Goes on where the turn stands. */
  resume(options?: TurnOptions): Promise<DoneReason>
  /** One step more, then `paused`. */
  next(): Promise<DoneReason>
  /** The person's last words once more. What the model did since is out of the conversation, and stays in the files. */
  retry(options?: TurnOptions): Promise<DoneReason>
  /** Ends the turn. A commit that has begun is finished, nothing else is; settles once no call runs any more. */
  stop(): Promise<void>
}

export interface TurnOptions {
  /** Stops after one step. */
  readonly stepwise?: boolean
}
