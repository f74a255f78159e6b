import type { ModelMessage, UserContent } from 'ai'
import type { PolicyInput } from 'wardspace'
import type { CallableTools } from 'wardspace/ai-sdk'
import type { Script } from 'wardspace/testing/scripted-model'
import type { Compaction } from './compaction.ts'
import type { ContextUse } from './context-window.ts'
import type { Provider } from './presets.ts'
import type { ScenarioId } from './scenario-titles.ts'

/** A button, and what it shows: a view or a file. */
export type Suggestion = { readonly label: string } & (
  | { readonly view: 'timeline' | 'policy' | 'changes' }
  | { readonly file: string }
)

/** A demonstration: a sample project, a prompt, and the script of the model that answers it. */
export interface Scenario {
  readonly id: ScenarioId
  /** The id of the sample project that it works on. */
  readonly sample: string
  /** The person's message. */
  readonly prompt: string
  /** Options of the workspace. */
  readonly workspace: { readonly policy: PolicyInput; readonly mode?: 'act' | 'plan' }
  /** What the person may want to see after the scenario has ended. */
  readonly afterwards?: Suggestion
  /** Defines the text and calls of the model, but no results. */
  readonly script: Script
}

/** Returns the person's key. A function, so that JSON and copies of its owner do not contain the key. */
export type Key = () => string

/** What a model can take and costs. What is missing is that of its provider's preset. */
export interface ModelFacts {
  /** Tokens of a request and its answer. */
  readonly contextTokens?: number
  readonly takesImages?: boolean
  /** Whether it takes PDF documents. */
  readonly takesDocuments?: boolean
  readonly prices?: Prices
}

/** Dollars per million tokens. */
export interface Prices {
  readonly read: number
  readonly written: number
}

export type ModelChoice =
  | { readonly kind: 'scripted'; readonly scenario: string }
  | EndpointChoice
  | { readonly kind: 'builtin' }

/** A model at a server, with the person's key. */
export interface EndpointChoice extends ModelFacts {
  readonly kind: 'endpoint'
  readonly provider: Provider
  /** Required for `compatible`, such as `http://localhost:8000/v1`. Default: the provider's address. */
  readonly baseUrl?: string
  readonly model: string
  /** Optional for local servers. */
  readonly key?: Key
}

/** The messages and results so far, as plain JSON. An agent that is created with it continues the conversation. */
export interface Conversation {
  readonly messages: readonly ModelMessage[]
  readonly usage: Usage
  /** What the model no longer gets in full. */
  readonly compaction?: Compaction
}

/** The usage of all steps so far. */
export interface Usage {
  readonly steps: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Milliseconds that the steps took, including their tools. */
  readonly ms: number
  /** Dollars, at the prices of each step. Missing as long as no price was known. */
  readonly cost?: number
}

/** Limits of an agent's work. */
export interface AgentLimits {
  /** Steps per turn. Default: 50. */
  readonly maxSteps?: number
  /** Tokens of the conversation, read and written. */
  readonly maxTokens?: number
  /** Dollars of the conversation. Counts only with prices. */
  readonly maxCost?: number
  readonly prices?: Prices
  /** The context of the model in tokens. The conversation is compacted before it is full. */
  readonly contextTokens?: number
}

/** An event of the agent's work, as plain JSON. Events arrive in order. */
export type AgentEvent =
  /** The model is asked. `step` counts from 1 in each turn. */
  | { readonly type: 'step'; readonly step: number }
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  /** The model calls a tool. `id` is also the `stepId` of its audit records. */
  | { readonly type: 'call'; readonly id: string; readonly tool: string; readonly input: unknown }
  | {
      readonly type: 'result'
      readonly id: string
      readonly tool: string
      readonly ok: boolean
      /** The result exactly as the model sees it. */
      readonly seen: unknown
      /** The id of the workspace's call, for `undo` and the audit. Missing if the call did not reach the workspace. */
      readonly callId?: string
      readonly code?: string
      readonly ms: number
    }
  /** The usage of the step that has ended, and of all steps so far, and how full the context of the model was. */
  | {
      readonly type: 'usage'
      readonly context: ContextUse
      readonly inputTokens: number
      readonly outputTokens: number
      readonly ms: number
      readonly total: Usage
    }
  /** Earlier results were replaced by their addresses, or left out, so that the conversation fits. */
  | { readonly type: 'compacted' }
  /** The conversation has changed. `agent.conversation` is the state to save. */
  | { readonly type: 'conversation' }
  /**
   * `retryAfterMs`: the server asks to wait this long, or is overloaded, and may answer afterwards. `hasBegun`: a part of the
   * answer has arrived.
   */
  | {
      readonly type: 'error'
      readonly message: string
      readonly canRetry: boolean
      readonly retryAfterMs?: number
      readonly hasBegun?: boolean
    }
  | { readonly type: 'done'; readonly reason: DoneReason }

/**
 * `paused`: the requested single step is done, and the model wants more. `limit`: the turn has used all its steps. `cut`: the
 * answer reached the model's limit of output. `filtered`: the provider withheld the answer. `early`: the answer ended without
 * its end. `empty`: there was no text and no call. `repeated`: the model made the same calls again and again. `tokens`, `cost`: the next step would exceed the budget.
 */
export type DoneReason =
  | 'finished'
  | 'stopped'
  | 'paused'
  | 'limit'
  | 'error'
  | 'cut'
  | 'filtered'
  | 'early'
  | 'empty'
  | 'repeated'
  | 'tokens'
  | 'cost'

export interface AgentOptions {
  /** Called at the beginning of each turn, so that the workspace can change between turns. */
  readonly tools: () => CallableTools
  readonly choice: ModelChoice
  /** The conversation to continue. Default: a new one. */
  readonly conversation?: Conversation
  readonly onEvent?: (event: AgentEvent) => void
  /** Called before each step, so that a person can change them while the agent works. */
  readonly limits?: () => AgentLimits
  /** Called at the beginning of each turn: what the person and the project want of every answer. */
  readonly instructions?: () => Promise<string>
  /** Milliseconds that a scripted model takes per word, so that a person can follow. Default: 0. */
  readonly pace?: number
  /** Sends requests to endpoints. Default: through the worker that may reach other origins, since the page may not. */
  readonly fetch?: typeof fetch
}

/** Asks a model and runs the tools that it calls, until it calls none. During a turn, only `stop` may be called. */
export interface Agent {
  readonly isWorking: boolean
  /** The conversation is complete even during a step: a call without a result is marked as interrupted. */
  readonly conversation: Conversation
  /** Whether an unfinished turn can continue after a stop, pause, error or reload. */
  readonly canContinue: boolean
  /** Sends the person's message and works until the model has finished. */
  send(content: UserContent, options?: TurnOptions): Promise<DoneReason>
  /** Drops a message of the person, counted from 0, and everything after it. Changes to files stay. */
  rewind(message: number): void
  /** Continues the unfinished turn. */
  resume(options?: TurnOptions): Promise<DoneReason>
  /** Plays one more step, then pauses. */
  next(): Promise<DoneReason>
  /** Sends the person's last message again. Drops the answer from the conversation; changes to files stay. */
  retry(options?: TurnOptions): Promise<DoneReason>
  /** Stops the turn. Only a commit that has begun is finished. Resolves when no call is running. */
  stop(): Promise<void>
}

export interface TurnOptions {
  /** Stops after one step. */
  readonly stepwise?: boolean
}
