import { type ReadonlySignal, signal } from '@preact/signals'
import type { Recording } from './recordings.ts'

/** Collects the lines of a recording. */
export class Recorder {
  readonly #current = signal<Recording | undefined>(undefined)
  #lines: string[] | undefined

  /** The current recording, if any. Its text is empty until it stops. */
  get current(): ReadonlySignal<Recording | undefined> {
    return this.#current
  }

  /** The `record` option of a workspace; undefined unless lines are collected. */
  get record(): ((line: string) => void) | undefined {
    return this.#lines === undefined ? undefined : (line) => this.#note(line)
  }

  /** Collects the lines of the workspace that is opened next. */
  collect(): void {
    this.#lines = []
  }

  start(recording: Pick<Recording, 'start' | 'history'>): void {
    this.#current.value = { text: '', ...recording, steps: 0 }
  }

  stop(): Recording | undefined {
    const recording = this.#current.value
    const text = this.#lines?.join('\n') ?? ''
    this.#current.value = undefined
    this.#lines = undefined
    return recording === undefined ? undefined : { ...recording, text }
  }

  #note(line: string): void {
    const recording = this.#current.value
    this.#lines?.push(line)
    if (recording !== undefined && !/^\{"type":"(workspace|run|answer)"/.test(line)) {
      this.#current.value = { ...recording, steps: recording.steps + 1 }
    }
  }
}
