import type { ModelMessage } from 'ai'
import { type Compaction, charactersOf, compact, messagesFor, noCompaction } from './compaction.ts'

/** Characters per token until a server has counted a request. */
const USUAL_RATIO = 3.5
const MIN_RATIO = 1.5
const MAX_RATIO = 6
/** The part of the context that a request may take. The rest is for the answer and for what the estimate misses. */
const FULL = 0.8
/** The part that is used after a compaction, so that the next one is far away. */
const TARGET = 0.5
/** What remains of the limit after a server has refused a request as too long. */
const SHRINK = 0.7

/** How full the context of a model is with the next request. */
export interface ContextUse {
  readonly tokens: number
  /** The context of the model. Undefined when it is not known. */
  readonly limit: number | undefined
}

/** Fits a conversation into the context of a model. It learns from the counts of the server. */
export class ContextWindow {
  compaction: Compaction
  #limit: number | undefined
  #learnedLimit = Number.POSITIVE_INFINITY
  #ratio = USUAL_RATIO
  /** Characters of the instructions and tools, which are part of every request. */
  #overhead = 0
  #lastCharacters = 0

  constructor(compaction: Compaction = noCompaction) {
    this.compaction = compaction
  }

  /** Sets what belongs to every request of a turn. */
  begin(limit: number | undefined, overhead: number): void {
    this.#limit = limit
    this.#overhead = overhead
  }

  /** Returns how full the context is with these messages. */
  useWith(messages: readonly ModelMessage[]): ContextUse {
    const sent = messagesFor(messages, this.#compactionFor(messages))
    return { tokens: this.tokensOf(this.#overhead + charactersOf(sent)), limit: this.#limit }
  }

  /** Estimates the tokens of a text. */
  tokensOf(characters: number): number {
    return Math.round(characters / this.#ratio)
  }

  /** Estimates the tokens of the next request. */
  tokensFor(messages: readonly ModelMessage[]): number {
    return this.tokensOf(this.#overhead + charactersOf(messagesFor(messages, this.compaction)))
  }

  /** Returns the messages to send, compacted if they do not fit. */
  fit(messages: readonly ModelMessage[]): readonly ModelMessage[] {
    this.compaction = this.#compactionFor(messages)
    const sent = messagesFor(messages, this.compaction)
    this.#lastCharacters = this.#overhead + charactersOf(sent)
    return sent
  }

  #compactionFor(messages: readonly ModelMessage[]): Compaction {
    const limit = Math.min(this.#limit ?? Number.POSITIVE_INFINITY, this.#learnedLimit)
    const charactersFor = (part: number) => limit * part * this.#ratio - this.#overhead
    return compact(messages, this.compaction, { target: charactersFor(TARGET), max: charactersFor(FULL) })
  }

  /** Takes the count of the server for the last request. */
  learn(inputTokens: number): void {
    if (inputTokens > 0) this.#ratio = Math.min(MAX_RATIO, Math.max(MIN_RATIO, this.#lastCharacters / inputTokens))
  }

  /** Lowers the limit, after the server has refused the last request as too long. */
  shrink(): void {
    this.#learnedLimit = this.tokensOf(this.#lastCharacters) * SHRINK
  }

  /** Ends the compaction of messages that are no longer part of the conversation. */
  cutTo(length: number): void {
    const { results, inputs, left } = this.compaction
    const isGone = left >= length
    this.compaction = {
      results: Math.min(results, length),
      inputs: Math.min(inputs, length),
      left: isGone ? 0 : left,
    }
  }
}
