import { encode } from 'gpt-tokenizer/encoding/o200k_base'

/** A tool as it is sent to the API of a model. */
export interface Definition {
  readonly name: string
  readonly description: string
  readonly input_schema: unknown
}

/** The steps of the work: explore, find the cause of a failing test, change it, run the test, show the diff. */
export const steps = ['list', 'search', 'read', 'read again', 'edit', 'run', 'diff'] as const

export type Step = (typeof steps)[number]

/** Definitions of one kind of tools, and the text that the model receives for each step. */
export interface Measured {
  readonly name: string
  readonly definitions: readonly Definition[]
  /** Steps that the tools cannot do are missing. */
  readonly results: Readonly<Partial<Record<Step, string>>>
}

export interface Size {
  readonly bytes: number
  readonly tokens: number
}

/** Counts bytes and o200k tokens. For code and JSON, the tokens of other vendors are close to these. */
export function sizeOf(text: string): Size {
  return { bytes: Buffer.byteLength(text), tokens: encode(text).length }
}

/** Counts definitions as compact JSON. */
export function sizeOfDefinitions(definitions: readonly Definition[]): Size {
  return sizeOf(JSON.stringify(definitions))
}
