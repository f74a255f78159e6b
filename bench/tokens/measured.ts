import { encode } from 'gpt-tokenizer/encoding/o200k_base'

/** A tool as a model's API is sent it. */
export interface Definition {
  readonly name: string
  readonly description: string
  readonly input_schema: unknown
}

/** The steps of the work: a look around, a failing test and its cause, the change, the test again, the diff. */
export const steps = ['list', 'search', 'read', 'read again', 'edit', 'run', 'diff'] as const

export type Step = (typeof steps)[number]

/** What one kind of tools costs: its definitions, and what each step shows the model. */
export interface Measured {
  readonly name: string
  readonly definitions: readonly Definition[]
  /** A step that the tools cannot do is left out. */
  readonly results: Readonly<Partial<Record<Step, string>>>
}

export interface Size {
  readonly bytes: number
  readonly tokens: number
}

/** In tokens of o200k, which are close to those of other vendors for code and JSON. */
export function sizeOf(text: string): Size {
  return { bytes: Buffer.byteLength(text), tokens: encode(text).length }
}

/** Definitions as they are sent, and without the white space that no API counts on. */
export function sizeOfDefinitions(definitions: readonly Definition[]): Size {
  return sizeOf(JSON.stringify(definitions))
}
